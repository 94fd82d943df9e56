// Reads a run's output piece by piece, to its end or as it grows.

import type { Result } from "../api/protocol.ts";
import type { LogStream } from "../core/text/log-piece.ts";
import { failureOf } from "./failure.ts";
import type { Io } from "./io.ts";
import { hasEnded, labelOf } from "./printing/job-lines.ts";
import { createLogText, createPrefixed, type LogText, lastLines } from "./printing/log-text.ts";
import { plain } from "./printing/print.ts";

/** Where to begin: at a byte, or at the last lines. */
export type LogStart = { offset: number } | { tail: number };
export type FollowOptions = {
	id: number | string;
	stream: LogStream;
	attempt: number | undefined;
	raw: boolean;
	from: LogStart;
	/** Print a note that there is more before the first line. */
	announce?: boolean;
	/** Printed before each line if several logs are shown. */
	prefix?: string;
};
/** An older daemon does not send all of it. */
type Piece = Partial<Result<"job.logs">> & Pick<Result<"job.logs">, "text" | "next_offset" | "eof" | "ended">;

/** How long the daemon may hold a request while there is nothing new. */
const WAIT_MS = 10_000;
/** Maximum bytes of one answer. */
const ANSWER_BYTES = 500_000;
/** An agent's line may render to nothing: at most this many are read to find the last rendered lines. */
const MOST_LINES = 100_000;
export const WHOLE: LogStart = { offset: 0 };

/** Prints what is there; with `follow` continues until the run has ended or, without a named attempt, the job with all its runs. */
export async function printLog(io: Io, wanted: FollowOptions, how: "once" | "follow"): Promise<void> {
	if (how === "follow") await waitInRun(io, wanted.id);
	let { attempt, from } = wanted;
	for (;;) {
		let run: string | undefined;
		try {
			run = await printRun(io, { ...wanted, attempt, from }, how);
		} catch (error) {
			// There was no next attempt: the job ended during its back-off.
			if (attempt !== wanted.attempt && failureOf(error).code === "not_found") return;
			throw error;
		}
		if (how === "once" || wanted.attempt !== undefined || run === undefined) return;
		const { job } = await io.ask("job.show", { id: wanted.id });
		if (hasEnded(job)) return;
		attempt = Number(run.split(".")[1]) + 1;
		from = WHOLE;
		io.print.say(io.print.paintTalk("dim", `${wanted.prefix === undefined ? "" : `${labelOf(job)}: `}attempt ${attempt} …`));
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

/** Prints to the end of one run; returns its id, or undefined if there was no run. */
async function printRun(io: Io, wanted: FollowOptions, how: "once" | "follow"): Promise<string | undefined> {
	const { prefix } = wanted;
	const lines = prefix === undefined ? undefined : createPrefixed((text) => io.world.stdout.write(text), prefix);
	let written = 0;
	const write = (text: string) => {
		written += text.length;
		if (text !== "") (lines ?? io.world.stdout).write(text);
	};
	let offset = "offset" in wanted.from ? wanted.from.offset : 0;
	let begun: Begun | undefined = "tail" in wanted.from ? await atLastLines(io, wanted, wanted.from.tail, how) : undefined;
	if (begun) offset = begun.piece.offset ?? 0;
	if (offset > 0 && wanted.announce)
		io.print.say(io.print.paintTalk("dim", `what came before is left out; sluice logs ${plain(wanted.id)} shows all`));
	const text = begun?.text ?? textFor(io, wanted);
	let noted: string | undefined;
	for (;;) {
		const piece: Piece = begun?.piece ?? (await ask(io, wanted, { offset }, how));
		const shown = begun?.shown ?? text.push(piece.text, piece.parts, piece.output ?? "command");
		begun = undefined;
		printNote(io, piece, noted, offset);
		noted = piece.note;
		write(shown);
		const moved = piece.next_offset > offset;
		offset = piece.next_offset;
		const isLast = piece.eof && (how === "once" || piece.ended);
		if (!isLast && (how === "follow" || moved)) continue;
		write(text.end());
		lines?.end();
		if (written === 0) await explainNothing(io, wanted, piece);
		return piece.run ?? undefined;
	}
}

const textFor = (io: Io, { raw, stream }: FollowOptions): LogText =>
	createLogText(raw ? "raw" : "shown", io.print.paint("dim", "x") === "x" ? "drop" : "keep", stream === "both" ? "stdout" : stream);

async function ask(io: Io, { id, stream, attempt }: FollowOptions, from: LogStart, how: "once" | "follow"): Promise<Piece> {
	const params = {
		id,
		...from,
		limit: ANSWER_BYTES,
		stream: stream === "both" ? undefined : stream,
		run: attempt,
	};
	return io.ask("job.logs", how === "follow" ? { ...params, wait_ms: WAIT_MS } : params);
}

type Begun = { piece: Piece; text: LogText; shown: string };

/** Counts rendered lines: an agent's line may render to none or many. */
async function atLastLines(io: Io, wanted: FollowOptions, count: number, how: "once" | "follow"): Promise<Begun> {
	for (let tail = count; ; tail *= 8) {
		const piece = await ask(io, wanted, { tail }, how);
		const text = textFor(io, wanted);
		const shown = text.push(piece.text, piece.parts, piece.output ?? "command");
		const enough = shown.split("\n").length > count || (piece.offset ?? 0) === 0 || tail === 0 || tail * 8 > MOST_LINES;
		if (wanted.raw || (piece.output ?? "command") === "command" || !piece.eof) return { piece, text, shown };
		if (enough) return { piece, text, shown: lastLines(shown, count) };
	}
}

function printNote(io: Io, { note, host, offset = 0 }: Piece, noted: string | undefined, wanted: number): void {
	const say = (words: string) => io.print.say(io.print.paintTalk("yellow", words));
	if (note !== undefined && note !== noted) say(`nothing comes: ${plain(note)}`);
	// Only for a log on another host, of which we have no complete copy.
	if (host !== undefined && offset > wanted) say(`${offset - wanted} bytes are left out: they are only on host ${plain(host)}`);
}

/** Why a log is empty: its program wrote nothing, or nothing that renders to text, or there was no run. */
async function explainNothing(
	io: Io,
	{ id, stream, raw }: FollowOptions,
	{ run, ended, next_offset, output = "command" }: Piece,
): Promise<void> {
	const what = stream === "both" ? "" : ` to ${stream}`;
	if (next_offset > 0 && !raw && output !== "command") io.print.say(`nothing to show of ${next_offset} bytes; --raw shows them`);
	else if (next_offset > 0) return;
	else if (!ended || !run) io.print.say(`job ${plain(id)} has written nothing${what} yet`);
	else if (!(await explainIfNeverStarted(io, id, run))) io.print.say(`run ${run} wrote nothing${what}`);
}

async function explainIfNeverStarted(io: Io, id: number | string, run: string): Promise<boolean> {
	try {
		const { events } = await io.ask("job.history", { id });
		const attempt = Number(run.split(".")[1]);
		const ends = events.filter((event) => event.kind === "requeued" || event.kind === "ended");
		const end = ends.find(({ data }) => data.attempt === attempt);
		if (end?.data.exit_kind !== "launch_failed") return false;
		const why = (end.kind === "requeued" ? end.data.message : undefined) ?? (await io.ask("job.show", { id })).job.last_failure;
		io.print.say(`run ${run} was never started${why ? `: ${plain(why)}` : ""}`);
		return true;
	} catch {
		// Only the log was asked for, so an error here is ignored.
		return false;
	}
}
