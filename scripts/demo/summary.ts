// The end of the demo: a picture of who ran when, and what is to be remembered. Everything in it is read from the jobs' histories, and checked.

import type { EventDocument, JobDocument } from "../../src/api/documents.ts";
import type { Board } from "./board.ts";
import { clock, type Line, listed, seconds, sinceBegin, width, wrap } from "./paint.ts";
import { label } from "./screen.ts";
import { BATCH, LANES } from "./story.ts";

type Span = { from: number; to: number; end: string; message: string };
type Told = { job: JobDocument; history: EventDocument[]; runs: Span[] };
export type Outage = { from: number; to: number; before: number; after: number; found: string[]; ended: string[] };
export type Stopped = { name: string; pids: number[]; ms: number };

export async function readAll({ session }: Board): Promise<Told[]> {
	const { jobs } = await session.call("job.list", { all: true, batch: BATCH });
	return Promise.all(
		jobs.map(async (job) => {
			const { events } = await session.call("job.history", { id: job.id });
			return { job, history: events, runs: runsOf(events) };
		}),
	);
}

function runsOf(history: readonly EventDocument[]): Span[] {
	const runs: Span[] = [];
	for (const { kind, at, data } of history) {
		const time = Date.parse(at);
		if (kind === "started") runs.push({ from: time, to: time, end: "", message: "" });
		const last = runs.at(-1);
		if (last && (kind === "requeued" || kind === "ended"))
			Object.assign(last, { to: time, end: String(data.exit_kind), message: kind === "requeued" ? (data.message ?? "") : "" });
	}
	return runs;
}

/** The promises that were to be seen. Throws on the first that was not kept. */
export function check(all: Told[], outage: Outage): void {
	for (const { job, runs } of all) {
		const wanted = job.name === "crawl" ? "cancelled" : "succeeded";
		if (job.status !== wanted) throw new Error(`${job.name} should have ${wanted}, but it ${job.status}: ${job.last_failure}`);
		const attempts = job.name === "unit" ? 2 : 1;
		if (runs.length !== attempts) throw new Error(`${job.name} was started ${runs.length} times, not ${attempts}`);
	}
	for (const [lane, cap] of Object.entries(LANES))
		if (peak(all, lane) > cap) throw new Error(`more than ${cap} jobs of lane ${lane} ran at once`);
	const holders = all.filter(({ job }) => job.locks.length > 0).flatMap(({ runs }) => runs);
	if (most(holders) > 1) throw new Error("two jobs had the lock db at once");
	if (outage.found.length === 0) throw new Error("nothing ran when the daemon was killed");
}

/** How many overlapped at most. */
function most(spans: readonly Span[]): number {
	return Math.max(0, ...spans.map(({ from }) => spans.filter((other) => other.from <= from && from < other.to).length));
}
const peak = (all: Told[], lane: string) => most(all.filter(({ job }) => job.lane === lane).flatMap(({ runs }) => runs));

/** `.` from added to ended, `=` while a run was alive, `#` where it was alive without a daemon, `x` where it failed or was stopped. */
function bar({ job, runs }: Told, outage: Outage, end: number, cells: number): string {
	const cell = (at: number) => Math.min(cells - 1, Math.max(0, Math.floor((sinceBegin(at) / sinceBegin(end)) * cells)));
	const out = Array<string>(cells).fill(" ");
	out.fill(".", cell(Date.parse(job.created_at)), cell(Date.parse(job.ended_at ?? "")) + 1);
	for (const { from, to, end } of runs) {
		out.fill("=", cell(from), cell(to) + 1);
		if (from < outage.from && to > outage.from) out.fill("#", cell(outage.from), cell(Math.min(to, outage.to)) + 1);
		if (end !== "completed") out[cell(to)] = "x";
	}
	return out.join("").trimEnd();
}

export function summary(all: Told[], outage: Outage, stopped: Stopped): Line[] {
	const end = Math.max(...all.map(({ job }) => Date.parse(job.ended_at ?? "")));
	const cells = Math.max(10, Math.min(60, width() - 43));
	const spent = ({ runs }: Told) => runs.reduce((sum, { from, to }) => sum + to - from, 0);
	const waited = (told: Told) => Date.parse(told.job.ended_at ?? "") - Date.parse(told.job.created_at) - spent(told);
	const rows = all.map((told): Line => {
		const numbers = `${String(told.runs.length).padStart(5)}${seconds(waited(told)).padStart(8)}${seconds(spent(told)).padStart(8)}  `;
		return [label(told.job), numbers, [bar(told, outage, end, cells), told.job.status === "succeeded" ? "cyan" : "yellow"]];
	});
	const ended = (status: string) => all.filter(({ job }) => job.status === status).length;
	const caps = Object.entries(LANES).map(([lane, cap]) => `${peak(all, lane)} of ${cap} in ${lane}`);
	const retried = all.filter(({ runs, job }) => runs.length > 1 && job.status === "succeeded");
	const of = (name: string) => all.find(({ job }) => job.name === name) as Told;
	const lockFrom = of("import").runs[0]?.from ?? 0;
	const approval = of("release").runs[0]?.from ?? 0;
	const asked = Math.max(
		...of("release").job.after.map(({ job }) => Date.parse(all.find((one) => one.job.id === job)?.job.ended_at ?? "")),
	);
	return [
		[
			[" id job      lane    runs  waited     ran  ", "bold"],
			[`0 s${clock(end).padStart(cells - 3)}`, "dim"],
		],
		...rows,
		[["     . waits   = runs   # runs while there is no daemon   x failed, or stopped", "dim"]],
		[],
		...wrap("Ran        ", `${ended("succeeded")} of ${all.length} jobs succeeded; at most ${listed(caps)} at once`),
		...wrap(
			"Waited     ",
			`import for lock db, until schema gave it back at ${clock(lockFrom)}; release ${seconds(approval - asked)} for approval; others for their turn`,
		),
		...retried.flatMap(({ job, runs }) =>
			wrap(
				"Retried    ",
				`${job.name}: "${runs[0]?.message}", once more after ${seconds((runs[1]?.from ?? 0) - (runs[0]?.to ?? 0))}, and it succeeded`,
			),
		),
		...wrap(
			"Cancelled  ",
			`${stopped.name} and all it had started (pids ${listed(stopped.pids.map(String))}), two of them in sessions of their own, one deaf to SIGTERM: all gone after ${seconds(stopped.ms)}`,
		),
		...wrap(
			"Survived   ",
			`the daemon (pid ${outage.before}) was killed with SIGKILL; ${listed(outage.found)} went on and pid ${outage.after} found ${outage.found.length === 1 ? "it" : "them"} again: same processes, same attempts` +
				(outage.ended.length > 0 ? `; ${listed(outage.ended)} ended meanwhile, and the exit was read from the run's folder` : ""),
		),
	];
}
