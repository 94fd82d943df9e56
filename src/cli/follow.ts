// Reading a run's output, piece by piece, to its end or as it grows.

import type { EventDocument } from "../api/documents.ts";
import { isFormat } from "../core/agents/index.ts";
import { createRenderer, type Renderer } from "../core/agents/render.ts";
import { failureOf } from "./failure.ts";
import type { Io } from "./io.ts";
import { hasEnded, type ShownJob } from "./job-lines.ts";
import { plain } from "./print.ts";
import { tame } from "./sequences.ts";

export type Wanted = { id: number | string; stream: "stdout" | "stderr"; attempt: number | undefined; raw: boolean };
type Piece = {
	host?: string;
	offset?: number;
	text: string;
	next_offset: number;
	eof: boolean;
	ended: boolean;
	run?: string | null;
	output?: string;
	note?: string;
};

/** How long the daemon may hold a question open while there is nothing new. */
const WAIT_MS = 10_000;
/** Bytes of one answer. */
const PIECE = 500_000;

/** Prints what is there; with `follow` goes on until the run has ended, or, where no attempt was named, the job with all its runs. */
export async function printLog(io: Io, wanted: Wanted, how: "once" | "follow"): Promise<void> {
	if (how === "follow") await waitInRun(io, wanted.id);
	let attempt = wanted.attempt;
	for (;;) {
		let run: string | undefined;
		try {
			run = await printRun(io, { ...wanted, attempt }, how);
		} catch (error) {
			// The next attempt never came to be: the job ended in its back-off.
			if (attempt !== wanted.attempt && failureOf(error).code === "not_found") return;
			throw error;
		}
		if (how === "once" || wanted.attempt !== undefined || run === undefined) return;
		const { job } = (await io.ask("job.show", { id: wanted.id })) as { job: ShownJob };
		if (hasEnded(job)) return;
		attempt = Number(run.split(".")[1]) + 1;
		io.print.say(io.print.paintTalk("dim", `attempt ${attempt} …`));
	}
}

/** Inside a run, following a job is waiting for it: the run lends its slot until the command ends. A wait that could never end is refused here. */
async function waitInRun(io: Io, id: number | string): Promise<void> {
	if (io.world.insideOf(io.home) === undefined) return;
	const { done } = await io.ask("job.wait", { ids: [id], timeout_ms: 0 });
	const goOn = async () => {
		for (let isOver = done; !isOver; ) isOver = (await io.ask("job.wait", { ids: [id], timeout_ms: WAIT_MS })).done;
	};
	// The connection ends with the command, and the wait with it.
	void goOn().catch(() => {});
}

/** An empty log may be that of a program that said nothing, or of none at all. */
async function tellIfNeverStarted(io: Io, id: number | string, run: string): Promise<void> {
	try {
		const { events } = (await io.ask("job.history", { id })) as { events: EventDocument[] };
		const end = events.find(({ kind, data }) => /^(?:requeued|ended)$/.test(kind) && data.attempt === Number(run.split(".")[1]));
		if (end?.data.exit_kind !== "launch_failed") return;
		const why = end.data.message ?? ((await io.ask("job.show", { id })).job as ShownJob).last_failure;
		io.print.say(`run ${run} was never started${why ? `: ${plain(why)}` : ""}`);
	} catch {
		// The log was what was asked for.
	}
}

/** To the end of one run; gives its id, or undefined when it never came to be. */
async function printRun(io: Io, wanted: Wanted, how: "once" | "follow"): Promise<string | undefined> {
	const { id, stream, attempt, raw } = wanted;
	const colours = io.print.paint("dim", "x") === "x" ? "drop" : "keep";
	let offset = 0;
	let renderer: Renderer | undefined;
	let noted: string | undefined;
	const write = (text: string) => {
		if (text !== "") io.world.stdout.write(raw ? text : tame(text, colours));
	};
	for (;;) {
		const params = { id, stream, offset, limit: PIECE, ...(attempt === undefined ? {} : { run: attempt }) };
		const piece = (await io.ask("job.logs", how === "follow" ? { ...params, wait_ms: WAIT_MS } : params)) as unknown as Piece;
		const { output = "command", note } = piece;
		if (note !== undefined && note !== noted) io.print.say(io.print.paintTalk("yellow", `nothing comes: ${plain(note)}`));
		noted = note;
		// Only of a log that another host has, and has not kept whole for us.
		if (piece.host !== undefined && (piece.offset ?? 0) > offset)
			io.print.say(
				io.print.paintTalk("yellow", `${(piece.offset ?? 0) - offset} bytes are left out: they are only on host ${plain(piece.host)}`),
			);
		if (!raw && stream === "stdout" && output !== "command" && isFormat(output)) {
			renderer ??= createRenderer(output);
			write(renderer.push(piece.text));
		} else write(piece.text);
		const isLast = piece.eof && (how === "once" || piece.ended);
		if (renderer && (isLast || (how === "once" && piece.next_offset === offset))) write(renderer.end());
		const moved = piece.next_offset > offset;
		offset = piece.next_offset;
		if (piece.eof && piece.ended && offset === 0 && piece.run) await tellIfNeverStarted(io, id, piece.run);
		if (isLast) return piece.run ?? undefined;
		if (how === "once" && !moved) return piece.run ?? undefined;
	}
}
