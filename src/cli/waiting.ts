// Staying until jobs have ended, with progress on stderr meanwhile.

import type { ExitKind } from "../core/job.ts";
import type { Document, Io } from "./io.ts";
import { labelOf, launchWords, statusWords } from "./job-lines.ts";
import { paintStatus } from "./print.ts";
import { printable } from "./sequences.ts";
import { durationWords } from "./times.ts";

export type WaitedJob = { id: number; status: string; exit_code: number | null; exit_kind: ExitKind | null } & {
	/** Not from a daemon of before. */
	name?: string | null;
	end_reason?: string | null;
	last_failure?: string | null;
};
export type Waited = { done: boolean; jobs: WaitedJob[] };

/** How long one question to the daemon stays open: an end is told at once, other changes after this. */
const ROUND_MS = 5000;
/** On a terminal the line lives, so it has to be renewed now and then. */
const LIVELY_MS = 1000;

/** What is waited for: jobs, or all of a kind; also those of it that are added meanwhile. */
export type WaitScope = { ids: readonly (number | string)[] } | { batch: string } | { lane: string } | { all: true };

/** `timeoutMs` undefined: for ever. */
export async function waitFor(io: Io, scope: WaitScope, timeoutMs: number | undefined): Promise<Waited> {
	const { world } = io;
	const from = world.now();
	const live = world.stderr.isTTY === true && !io.quiet && !io.json;
	const told = new Map<number, string>();
	const clear = () => void world.stderr.write("\r\u001b[K");
	/** The first answer comes at once, so that there is something to look at. */
	let longest = 0;
	const known = new Map<number, WaitedJob>();
	/** Of a kind, first all are asked for, then those that are open; once these have ended, all once more. */
	let asks: Document = scope;
	for (;;) {
		const left = timeoutMs === undefined ? Number.POSITIVE_INFINITY : timeoutMs - (world.now() - from);
		const round = Math.max(0, Math.min(left, longest));
		longest = live ? LIVELY_MS : ROUND_MS;
		const answer = await asked(io, asks, round, live ? clear : () => {});
		for (const job of answer.jobs) known.set(job.id, job);
		const jobs = "ids" in scope ? answer.jobs : [...known.values()];
		const done = answer.done && ("ids" in scope || asks === scope);
		asks = "ids" in scope || answer.done ? scope : { ids: jobs.filter(isOpen).map(({ id }) => id) };
		// Nothing is left of those that are known: whether others have come is asked at once.
		if (answer.done && !done) longest = 0;
		if (live) world.stderr.write(`\r\u001b[K${progress(io, jobs, world.now() - from)}`);
		else tellChanges(io, jobs, told);
		if (done || left <= 0) {
			if (live) clear();
			if (live) tellChanges(io, jobs, told);
			return { jobs, done };
		}
	}
}

/** A line of progress must not stand before what went wrong. */
async function asked(io: Io, asks: Document, round: number, clear: () => void): Promise<Waited> {
	try {
		return (await io.ask("job.wait", { ...asks, timeout_ms: round })) as Waited;
	} catch (error) {
		clear();
		throw error;
	}
}

const isOpen = ({ status }: WaitedJob): boolean => status === "running" || status === "queued" || status.startsWith("waiting");

/** `2 of 5 ended · 1 running · 2 waiting · 12s` */
function progress(io: Io, jobs: readonly WaitedJob[], ms: number): string {
	const count = (wanted: (status: string) => boolean) => jobs.filter(({ status }) => wanted(status)).length;
	const running = count((status) => status === "running");
	const waiting = count((status) => status === "queued" || status.startsWith("waiting"));
	const failed = count((status) => status !== "succeeded" && status !== "running" && status !== "queued" && !status.startsWith("waiting"));
	const parts = [
		`${jobs.length - running - waiting} of ${jobs.length} ended`,
		running > 0 ? io.print.paintTalk("cyan", `${running} running`) : "",
		waiting > 0 ? io.print.paintTalk("blue", `${waiting} waiting`) : "",
		failed > 0 ? io.print.paintTalk("red", `${failed} not well`) : "",
		durationWords(ms),
	];
	return parts.filter(Boolean).join(" · ");
}

function tellChanges(io: Io, jobs: readonly WaitedJob[], told: Map<number, string>): void {
	for (const job of jobs) {
		if (told.get(job.id) === job.status) continue;
		told.set(job.id, job.status);
		io.print.say(`${labelOf(job)} ${paintStatus(io.print.paintTalk, job.status, statusWords(job.status))}${endWords(job)}`);
	}
}

/** `, exit code 3: so it goes` */
function endWords(job: WaitedJob): string {
	const launch = job.status === "failed" ? launchWords(job) : undefined;
	if (launch !== undefined) return `: ${launch}`;
	const code = job.exit_code === null || job.exit_code === 0 ? "" : `exit code ${job.exit_code}`;
	const isNews = job.end_reason && job.end_reason !== job.status && job.end_reason !== code && job.status !== "succeeded";
	return `${code && `, ${code}`}${isNews ? `: ${printable(job.end_reason ?? "")}` : ""}`;
}
