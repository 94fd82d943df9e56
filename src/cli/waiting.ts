// Waits until jobs have ended, with progress on stderr meanwhile.

import type { WaitedJob } from "../api/protocol/job.ts";
import type { Io } from "./io.ts";
import { labelOf, launchWords, statusWords } from "./printing/job-lines.ts";
import { paintStatus } from "./printing/print.ts";
import { printable, tame } from "./printing/sequences.ts";
import { durationWords } from "./times.ts";

export type Waited = { done: boolean; jobs: WaitedJob[] };

/** How long one request stays open: the daemon reports an end at once, other changes after this. */
const ROUND_MS = 5000;
/** On a terminal the progress line shows the elapsed time, so it is renewed this often. */
const LIVELY_MS = 1000;

/** What is waited for: given jobs, or all of a scope, including jobs that are added meanwhile. */
export type WaitScope = { ids: (number | string)[] } | { batch: string } | { lane: string } | { all: true };

/** `timeoutMs` undefined: forever. */
export async function waitFor(io: Io, scope: WaitScope, timeoutMs: number | undefined): Promise<Waited> {
	const { world } = io;
	const from = world.now();
	const live = world.stderr.isTTY === true && !io.quiet && !io.json;
	const shown = new Map<number, string>();
	const clear = () => void world.stderr.write("\r\u001b[K");
	/** The first request returns at once, so that progress can be shown. */
	let longest = 0;
	const known = new Map<number, WaitedJob>();
	/** For a scope, first all jobs are requested, then the open ones; once these have ended, all once more. */
	let asks: WaitScope = scope;
	for (;;) {
		const left = timeoutMs === undefined ? Number.POSITIVE_INFINITY : timeoutMs - (world.now() - from);
		const round = Math.max(0, Math.min(left, longest));
		longest = live ? LIVELY_MS : ROUND_MS;
		const answer = await asked(io, asks, round, live ? clear : () => {});
		for (const job of answer.jobs) known.set(job.id, job);
		const jobs = "ids" in scope ? answer.jobs : [...known.values()];
		const done = answer.done && ("ids" in scope || asks === scope);
		asks = "ids" in scope || answer.done ? scope : { ids: jobs.filter(isOpen).map(({ id }) => id) };
		// All known jobs have ended: ask at once whether new ones were added.
		if (answer.done && !done) longest = 0;
		if (live) world.stderr.write(`\r\u001b[K${tame(progress(io, jobs, world.now() - from), "keep")}`);
		else printChanges(io, jobs, shown);
		if (done || left <= 0) {
			if (live) clear();
			if (live) printChanges(io, jobs, shown);
			return { jobs, done };
		}
	}
}

/** Clears the progress line before an error is printed. */
async function asked(io: Io, asks: WaitScope, round: number, clear: () => void): Promise<Waited> {
	try {
		return await io.ask("job.wait", { ...asks, timeout_ms: round });
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

function printChanges(io: Io, jobs: readonly WaitedJob[], shown: Map<number, string>): void {
	for (const job of jobs) {
		if (shown.get(job.id) === job.status) continue;
		shown.set(job.id, job.status);
		io.print.say(`${labelOf(job)} ${paintStatus(io.print.paintTalk, job.status, statusWords(job.status))}${endWords(job)}`);
	}
}

/** `, exit code 3: so it goes` */
function endWords(job: WaitedJob): string {
	const launch = job.status === "failed" ? launchWords(job) : undefined;
	if (launch !== undefined) return `: ${launch}`;
	const code = job.exit_code === null || job.exit_code === 0 ? "" : `exit code ${job.exit_code}`;
	const isInformative = job.end_reason && job.end_reason !== job.status && job.end_reason !== code && job.status !== "succeeded";
	return `${code && `, ${code}`}${isInformative ? `: ${printable(job.end_reason ?? "")}` : ""}`;
}
