// The log that is open on the live screen: its last lines at first, then what is written meanwhile.

import type { Io } from "../io.ts";
import { createLogText, type LogText } from "../printing/log-text.ts";
import type { TopState } from "./state.ts";

/** Lines that are read at first, and lines that are kept. */
const FIRST_LINES = 500;
const KEPT_LINES = 20_000;
const ANSWER_BYTES = 500_000;

type Reading = { job: number; run: string | null; offset: number; text: LogText; shown: string; isBegun: boolean };

/** Call it with each refresh of the screen: reads on if a log is open. */
export function createLogReader(io: Io): (state: TopState) => Promise<void> {
	let reading: Reading | undefined;
	return async (state) => {
		const { pane } = state;
		if (pane?.is !== "log") {
			reading = undefined;
			return;
		}
		if (reading?.job !== pane.job) reading = freshReading(io, pane.job);
		await readOn(io, reading);
		if (state.pane?.is !== "log" || state.pane.job !== pane.job) return;
		const lines = reading.shown === "" ? ["It has written nothing yet."] : reading.shown.replace(/\n$/, "").split("\n");
		state.pane = { ...state.pane, lines };
	};
}

const freshReading = (io: Io, job: number): Reading => ({
	job,
	run: null,
	offset: 0,
	text: createLogText("shown", io.print.paint("dim", "x") === "x" ? "drop" : "keep", "stdout"),
	shown: "",
	isBegun: false,
});

async function readOn(io: Io, reading: Reading): Promise<void> {
	const { job, offset, isBegun } = reading;
	const piece = await io.ask("job.logs", { id: job, ...(isBegun ? { offset } : { tail: FIRST_LINES }), limit: ANSWER_BYTES });
	if (isBegun && piece.run !== reading.run) {
		// The next attempt has begun.
		Object.assign(reading, { ...freshReading(io, job), shown: "" });
		return readOn(io, reading);
	}
	reading.isBegun = true;
	reading.run = piece.run;
	reading.offset = piece.next_offset;
	const lines = (reading.shown + reading.text.push(piece.text, piece.parts, piece.output ?? "command")).split("\n");
	reading.shown = lines.slice(-KEPT_LINES).join("\n");
}
