// Words for the shell's completion, one `word<TAB>description` per line. Asks only a running daemon, and never prints an error.

import type { Call } from "../../command.ts";
import type { Io } from "../../io.ts";
import { type ShownJob, statusWords, subjectOf } from "../../printing/job-lines.ts";
import { printable } from "../../printing/sequences.ts";
import { cut } from "../../printing/table.ts";

/** Shells expand what they are offered: nothing with a meaning to a shell may pass, whatever the daemon sends. */
const HARMLESS_WORD = /^[\p{L}\p{N}_][\p{L}\p{N}_.@+-]*$/u;

export async function run(call: Call, io: Io): Promise<undefined> {
	try {
		const kind = call.arg("KIND");
		const offers = kind === "lane" ? await lanes(io) : kind === "host" ? await hosts(io) : await jobs(io);
		for (const [word, says] of offers) if (HARMLESS_WORD.test(word)) io.print.out(`${word}\t${says}`);
	} catch {
		// A shell has no place for an error during completion.
	}
}

async function jobs(io: Io): Promise<[string, string][]> {
	const [active, ended] = [await io.askIfRunning("job.list", { limit: 200 }), await io.askIfRunning("job.list", { all: true, limit: 200 })];
	const all = new Map([...(ended?.jobs ?? []), ...(active?.jobs ?? [])].map((job): [number, ShownJob] => [job.id, job]));
	return [...all.values()].flatMap((job): [string, string][] => {
		const says = cut(`${statusWords(job.status)} ${subjectOf(job)}`.trim(), 60);
		return [String(job.id), ...(job.name ? [printable(job.name)] : [])].map((word) => [word, says]);
	});
}

async function lanes(io: Io): Promise<[string, string][]> {
	const document = await io.askIfRunning("lane.list");
	return (document?.lanes ?? []).map(({ name, queued, running }) => [name, `${queued} queued, ${running} running`]);
}

async function hosts(io: Io): Promise<[string, string][]> {
	const document = await io.askIfRunning("host.list");
	return (document?.hosts ?? []).map(({ name, state, running }) => [name, `${state}, ${running} running`]);
}
