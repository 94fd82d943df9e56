// Reading a run's output, piece by piece, to its end or as it grows.

import type { EventDocument } from "../api/documents.ts";
import type { LogStream, StreamPart } from "../core/log-piece.ts";
import { failureOf } from "./failure.ts";
import type { Io } from "./io.ts";
import { hasEnded, labelOf, type ShownJob } from "./job-lines.ts";
import { createLogText, createPrefixed, type LogText, lastLines } from "./log-text.ts";
import { plain } from "./print.ts";

/** Where it begins: at a byte, or at the last lines. */
export type LogStart = { offset: number } | { tail: number };
export type Wanted = {
	id: number | string;
	stream: LogStream;
	attempt: number | undefined;
	raw: boolean;
	from: LogStart;
	/** Say that there is more before the first line. */
	announce?: boolean;
	/** Before each line, where several logs are shown. */
	prefix?: string;
};
type Piece = {
	host?: string;
	offset?: number;
	text: string;
	parts?: StreamPart[];
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
/** An agent's line may show nothing: so many of them at most are read for the last lines of what is shown. */
const MOST_LINES = 100_000;
export const WHOLE: LogStart = { offset: 0 };

/** Prints what is there; with `follow` goes on until the run has ended, or, where no attempt was named, the job with all its runs. */
export async function printLog(io: Io, wanted: Wanted, how: "once" | "follow"): Promise<void> {
	if (how === "follow") await waitInRun(io, wanted.id);
	let { attempt, from } = wanted;
	for (;;) {
		let run: string | undefined;
		try {
			run = await printRun(io, { ...wanted, attempt, from }, how);
		} catch (error) {
			// The next attempt never came to be: the job ended in its back-off.
			if (attempt !== wanted.attempt && failureOf(error).code === "not_found") return;
			throw error;
		}
		if (how === "once" || wanted.attempt !== undefined || run === undefined) return;
		const { job } = (await io.ask("job.show", { id: wanted.id })) as { job: ShownJob };
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

/** To the end of one run; gives its id, or undefined when it never came to be. */
async function printRun(io: Io, wanted: Wanted, how: "once" | "follow"): Promise<string | undefined> {
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
		tellNote(io, piece, noted, offset);
		noted = piece.note;
		write(shown);
		const moved = piece.next_offset > offset;
		offset = piece.next_offset;
		const isLast = piece.eof && (how === "once" || piece.ended);
		if (!isLast && (how === "follow" || moved)) continue;
		write(text.end());
		lines?.end();
		if (written === 0) await tellNothing(io, wanted, piece);
		return piece.run ?? undefined;
	}
}

const textFor = (io: Io, { raw, stream }: Wanted): LogText =>
	createLogText(raw ? "raw" : "shown", io.print.paint("dim", "x") === "x" ? "drop" : "keep", stream === "both" ? "stdout" : stream);

async function ask(io: Io, { id, stream, attempt }: Wanted, from: LogStart, how: "once" | "follow"): Promise<Piece> {
	const params = {
		id,
		...from,
		limit: PIECE,
		...(stream === "both" ? {} : { stream }),
		...(attempt === undefined ? {} : { run: attempt }),
	};
	return (await io.ask("job.logs", how === "follow" ? { ...params, wait_ms: WAIT_MS } : params)) as unknown as Piece;
}

type Begun = { piece: Piece; text: LogText; shown: string };

/** Of what is shown: an agent's line may be none or many of these. */
async function atLastLines(io: Io, wanted: Wanted, count: number, how: "once" | "follow"): Promise<Begun> {
	for (let tail = count; ; tail *= 8) {
		const piece = await ask(io, wanted, { tail }, how);
		const text = textFor(io, wanted);
		const shown = text.push(piece.text, piece.parts, piece.output ?? "command");
		const enough = shown.split("\n").length > count || (piece.offset ?? 0) === 0 || tail === 0 || tail * 8 > MOST_LINES;
		if (wanted.raw || (piece.output ?? "command") === "command" || !piece.eof) return { piece, text, shown };
		if (enough) return { piece, text, shown: lastLines(shown, count) };
	}
}

function tellNote(io: Io, { note, host, offset = 0 }: Piece, noted: string | undefined, wanted: number): void {
	const say = (words: string) => io.print.say(io.print.paintTalk("yellow", words));
	if (note !== undefined && note !== noted) say(`nothing comes: ${plain(note)}`);
	// Only of a log that another host has, and has not kept whole for us.
	if (host !== undefined && offset > wanted) say(`${offset - wanted} bytes are left out: they are only on host ${plain(host)}`);
}

/** An empty log may be that of a program that said nothing, of one that says nothing in words, or of none at all. */
async function tellNothing(io: Io, { id, stream, raw }: Wanted, { run, ended, next_offset, output = "command" }: Piece): Promise<void> {
	const what = stream === "both" ? "" : ` to ${stream}`;
	if (next_offset > 0 && !raw && output !== "command") io.print.say(`nothing to show of ${next_offset} bytes; --raw shows them`);
	else if (next_offset > 0) return;
	else if (!ended || !run) io.print.say(`job ${plain(id)} has written nothing${what} yet`);
	else if (!(await tellIfNeverStarted(io, id, run))) io.print.say(`run ${run} wrote nothing${what}`);
}

async function tellIfNeverStarted(io: Io, id: number | string, run: string): Promise<boolean> {
	try {
		const { events } = (await io.ask("job.history", { id })) as { events: EventDocument[] };
		const end = events.find(({ kind, data }) => /^(?:requeued|ended)$/.test(kind) && data.attempt === Number(run.split(".")[1]));
		if (end?.data.exit_kind !== "launch_failed") return false;
		const why = end.data.message ?? ((await io.ask("job.show", { id })).job as ShownJob).last_failure;
		io.print.say(`run ${run} was never started${why ? `: ${plain(why)}` : ""}`);
		return true;
	} catch {
		// The log was what was asked for.
		return false;
	}
}
