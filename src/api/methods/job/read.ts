// job.show, list, why, history, graph, logs, wait: the methods that only read.

import { everyJob } from "../../../contracts/queue.ts";
import type { JobView, Scheduler } from "../../../contracts/scheduler.ts";
import { SluiceError } from "../../../core/errors.ts";
import { given } from "../../../core/given.ts";
import { graphDocument, graphText } from "../../../core/graph/text.ts";
import { isTerminal, type Status } from "../../../core/job.ts";
import { type At, doc, type Handlers, only, resolve, shown, shownAll } from "../../call.ts";
import type { LogPiece } from "../../context.ts";
import { etaOf } from "../../documents/eta.ts";
import { causeDocument, countsOf, lockedJobs, reasonRemedy } from "../../documents/queue.ts";
import { eventDocument, reasonDocument } from "../../documents.ts";
import { mustBeKnownScope } from "../../known.ts";
import type { WaitedJob } from "../../protocol/job.ts";
import { LIMITS, type Params } from "../../protocol.ts";
import { lendSlot } from "../../run-waits.ts";
import { attempts } from "./attempts.ts";
import { search } from "./search.ts";

/** How often a followed log is checked: a file gives no notification when it grows. */
const LOG_LOOK_MS = 150;

/** Without a notification, a waited-for job is read again at most this often, times the number of such jobs. */
const LOOK_EACH_MS = 10;

type Looks =
	| "job.show"
	| "job.list"
	| "job.queue"
	| "job.search"
	| "job.why"
	| "job.history"
	| "job.attempts"
	| "job.graph"
	| "job.logs"
	| "job.outcome"
	| "job.wait";

export const jobReads: Pick<Handlers<"job">, Looks> = {
	"job.show": async ({ id }, { context }) => doc({ job: shown(context, await context.scheduler.show(await resolve(context, id))) }),

	"job.list": async ({ ids, fields, by: _by, ...filter }, { context }) => {
		// Read before the list: what happens in between appears again in the events, and is never missed.
		const seq = await context.scheduler.lastEvent();
		await mustBeKnownScope(filter, context);
		const picked = ids === undefined ? {} : { ids: await Promise.all(ids.map((ref) => resolve(context, ref))) };
		const jobs = shownAll(context, await context.scheduler.list({ ...filter, ...picked } as object));
		return doc({ jobs: fields === undefined ? jobs : jobs.map((job) => only(job, fields)), seq });
	},

	"job.queue": async ({ limit = 200 }, { context }) => {
		const seq = await context.scheduler.lastEvent();
		const { ready, jobs, causes } = await context.scheduler.queue({ limit });
		return doc({ ready, jobs, causes: causes.map(causeDocument), locked: await lockedJobs(context), counts: await countsOf(context), seq });
	},

	"job.search": async (params, { context }) => doc(await search(params, context)),

	"job.why": async ({ id }, { context }) => {
		const { job, reasons, position, priority, waiters, results } = await context.scheduler.why(await resolve(context, id));
		const eta = await etaOf(context, job);
		return doc({
			job: shown(context, job),
			reasons: reasons.map((reason) => ({ ...reasonDocument(reason), remedy: reasonRemedy(reason) })),
			position,
			priority,
			waiters,
			results: results.map(({ result, ...one }) => ({ ...one, has_result: result !== null })),
			...(eta === undefined ? {} : { eta }),
			...recipeWarning(job, context),
		});
	},

	"job.history": async ({ id }, { context }) =>
		doc({ events: (await context.scheduler.history(await resolve(context, id))).map(eventDocument) }),

	"job.attempts": (params, at) => attempts(params, at),

	"job.graph": async ({ job, all, batch, format = "json", max_depth = 3 }, { context }) => {
		const graph = await context.scheduler.graph({
			max_depth,
			all: all === true,
			...given({ job: job === undefined ? undefined : await resolve(context, job), batch }),
		});
		return doc(
			format === "json"
				? graphDocument(graph, job === undefined ? "asked" : "reached")
				: { format, text: graphText(graph, format, max_depth) },
		);
	},

	"job.logs": async (params, at) => doc(await logs(params, at)),

	"job.outcome": async ({ id, run }, { context }) => {
		const job = await resolve(context, id);
		const attempt = run ?? (await context.scheduler.show(job)).attempt;
		const here = context.supervisor.outcome(job, attempt);
		const found = here ? { host: null, outcome: here } : await context.elsewhere?.outcome(job, attempt);
		if (!found)
			throw new SluiceError("not_found", `there is no account of run ${job}.${attempt}`, {
				field: run === undefined ? "id" : "run",
				hint: "there is one as soon as it has ended, for as long as its logs are kept",
			});
		return doc({ job, run: `${job}.${attempt}`, ...found });
	},

	"job.wait": async (params, at) => {
		return doc(await waitInRun(await waitedIds(params, at), params.timeout_ms ?? LIMITS.wait_ms, at));
	},
};

/** Why the repo's own recipe of this name is not in force: the job may come from another recipe than its repo has. */
function recipeWarning({ repo, spec: { recipe } }: JobView, { intake }: At["context"]): { warning?: string } {
	const problem = repo === undefined || recipe === undefined ? null : intake.recipeProblem(repo, recipe);
	return problem === null ? {} : { warning: problem };
}

/** For a batch all jobs, so that earlier ends are reported, too; else jobs that have not ended. */
async function waitedIds({ ids, batch, lane, all }: Params<"job.wait">, at: At): Promise<number[]> {
	const { context } = at;
	const ways = [ids, batch, lane, all || undefined].filter((one) => one !== undefined).length;
	if (ways !== 1)
		throw new SluiceError("invalid", ways === 0 ? "ids: which jobs?" : "ids: contradicts the other ways to name jobs", {
			field: "ids",
			hint: "give one of ids, batch, lane, all",
		});
	if (ids !== undefined) return [...new Set(await Promise.all(ids.map((ref) => resolve(context, ref))))];
	await mustBeKnownScope({ batch, lane }, context);
	const filter = batch !== undefined ? { batch, all: true } : lane !== undefined ? { lane } : {};
	const found: JobView[] = [];
	for await (const job of everyJob(context.scheduler, filter)) found.push(job);
	const own = await ownLine(at);
	return newestOfEachName(found).filter((id) => !own.has(id));
}

/** A manifest that is applied again adds new jobs of the same names to the same batch: the ends of the earlier ones no longer count. */
function newestOfEachName(jobs: readonly JobView[]): number[] {
	const newest = new Map(jobs.flatMap(({ id, name }) => (name === undefined ? [] : [[name, id] as const])));
	return jobs.filter(({ id, name, status }) => name === undefined || !isTerminal(status) || newest.get(name) === id).map(({ id }) => id);
}

/** A run that waits for all jobs waits neither for itself nor for its ancestors. */
async function ownLine({ context, session }: At): Promise<Set<number>> {
	const line = new Set<number>();
	for (let id = session.caller.job; id !== undefined && !line.has(id); ) {
		line.add(id);
		id = (await context.scheduler.show(id).catch(() => null))?.parent ?? undefined;
	}
	return line;
}

async function logs({ id, run, stream = "both", offset, tail, limit, wait_ms = 0 }: Params<"job.logs">, at: At): Promise<LogPiece> {
	const { supervisor, scheduler, clock, elsewhere, host } = at.context;
	if (offset !== undefined && tail !== undefined)
		throw new SluiceError("invalid", "tail: contradicts offset", { field: "tail", hint: "give one of them" });
	const job = await resolve(at.context, id);
	const view = await scheduler.show(job);
	const { status, exit_kind, last_failure } = view;
	let last = view.attempt;
	const why = exit_kind === "launch_failed" && last_failure ? `it could not be started: ${last_failure}` : null;
	const until = clock.monotonic() + wait_ms;
	const options = { stream, ...given({ attempt: run, offset, tail, limit }) };
	/** Reads here or on the host that has the run; an earlier attempt on this host only if there is no other. */
	const read = async (): Promise<(LogPiece & { run: string }) | null> => {
		// Lets pending file notifications, which give the order of writes, arrive first.
		await host.turn();
		if (!elsewhere) return supervisor.logs(job, options);
		const attempt = run ?? last;
		const left = Math.max(0, until - clock.monotonic());
		const piece =
			attempt === 0
				? null
				: (supervisor.logs(job, { ...options, attempt }) ?? (await elsewhere.logs(job, attempt, { ...options, wait_ms: left })));
		return piece ?? (run === undefined && left === 0 ? supervisor.logs(job, options) : null);
	};
	const whereElse = async (): Promise<string | null> => {
		const host = elsewhere && (run ?? last) > 0 ? await scheduler.outputs.ranOn(job, run ?? last) : null;
		return host === null ? null : `it is on host ${host}, which does not answer`;
	};
	for (let waiting = !isTerminal(status); ; ) {
		const piece = await read();
		if (piece && (piece.text !== "" || piece.ended)) return piece;
		if (!waiting || clock.monotonic() >= until) {
			if (piece) return piece;
			const there = await whereElse();
			// A caller that can wait gets an empty piece and asks again from the same offset; any other gets an error.
			if (wait_ms > 0 && waiting) return nothingYet(stream, offset ?? 0, there);
			throw noRun({ job, run, status, last }, there ?? why);
		}
		await pause(at, Math.min(LOG_LOOK_MS, until - clock.monotonic()));
		const now = await scheduler.show(job);
		last = now.attempt;
		waiting = piece !== null || !isTerminal(now.status);
	}
}

const pause = ({ context }: At, ms: number) => new Promise<void>((resolve) => context.host.after(ms, resolve, "hold"));

const nothingYet = (stream: LogPiece["stream"], at: number, note: string | null): LogPiece => ({
	...{ run: null, stream, offset: at, next_offset: at, text: "", parts: [], eof: true, ended: false, output: "command" },
	...(note === null ? {} : { note }),
});

function noRun(of: { job: number; run: number | undefined; status: Status; last: number }, why: string | null): SluiceError {
	const { job, run, status, last } = of;
	const ended = isTerminal(status);
	const none = run === undefined ? `job ${job} has no log` : `there is no log of run ${job}.${run}`;
	const words = () => {
		if (why !== null) return `${none}: ${why}`;
		// The run is claimed, and its files are not there yet.
		if (status === "running" && (run ?? last) === last) return `job ${job} has written nothing yet: its run has just begun`;
		if (run === undefined && last === 0)
			return ended ? `job ${job} has written nothing: it never ran` : `job ${job} has written nothing yet: it has not started`;
		return (run ?? last) <= last ? `${none}: it is not kept any more` : none;
	};
	return new SluiceError("not_found", words(), {
		field: run === undefined ? "id" : "run",
		hint: ended ? `sluice history ${job} tells what has happened to it` : `sluice why ${job} tells what it waits for`,
	});
}

/** A run lends its slot while it waits; a wait that could never end is refused. */
async function waitInRun(ids: number[], ms: number, at: At): ReturnType<typeof waitFor> {
	const { job, token } = at.session.caller;
	if (job === undefined || token === undefined) return waitFor(ids, ms, at);
	const over = await lendSlot(at.context, { job, token }, ids);
	let next: Parameters<typeof over>[0] = "again";
	try {
		const waited = await waitFor(ids, ms, at);
		if (waited.done) next = "done";
		return waited;
	} finally {
		over(next);
	}
}

/** Reads each job once and then follows events, so the cost of a wait grows linearly with its jobs. */
async function waitFor(ids: number[], ms: number, { context }: At): Promise<{ jobs: WaitedJob[]; done: boolean }> {
	const { scheduler, clock, host } = context;
	const seen = new Map<number, WaitedJob>();
	const open = new Set(ids);
	let doubted = new Set(ids);
	let isOver = false;
	let wake = () => {};
	const names = new Map<number, string>();
	/** Jobs whose end is known from an event, which does not say why a run failed. */
	const unexplained = new Set<number>();
	const see = (job: Omit<WaitedJob, "name">) => {
		seen.set(job.id, { ...job, name: null });
		if (isTerminal(job.status)) open.delete(job.id);
	};
	let lookedAt = clock.monotonic();
	// Subscribe before the first read so that no end is missed. The watcher also fires without events (another process may have committed), up to once a
	// second; with many jobs, read less often.
	const off = scheduler.watch((summary) => {
		const events = summary.heard.length === 0 ? summary.events : [...summary.events, ...summary.heard];
		if (events.length === 0 && clock.monotonic() - lookedAt >= open.size * LOOK_EACH_MS) {
			lookedAt = clock.monotonic();
			doubted = new Set(open);
		}
		for (const { job, kind, data } of events) {
			if (kind !== "ended" || job === null || !open.has(job)) continue;
			// A job that ended without a run keeps the exit kind of an earlier run, which only the job's record has.
			if (data.exit_kind === undefined) doubted.add(job);
			else {
				const { to, exit_code = null, exit_kind, end_reason = null } = data;
				see({ id: job, status: to, exit_code, exit_kind, end_reason, last_failure: null } as WaitedJob);
				if (to !== "succeeded") unexplained.add(job);
			}
		}
		if (doubted.size > 0 || open.size === 0) wake();
	});
	const cancel = host.after(
		ms,
		() => {
			isOver = true;
			// At the end of the wait, also report the state of jobs that have not ended.
			doubted = new Set(open);
			wake();
		},
		"hold",
	);
	try {
		for (;;) {
			const isLast = isOver || ms <= 0;
			const some = [...doubted];
			doubted = new Set();
			for (const view of await Promise.all(some.map((id) => scheduler.show(id)))) {
				const { id, name, status, exit_code = null, exit_kind = null, end_reason = null, last_failure = null } = view;
				if (name !== undefined) names.set(id, name);
				// An end that arrived as an event meanwhile is newer than this read.
				if (open.has(id)) see({ id, status, exit_code, exit_kind, end_reason, last_failure });
			}
			if (open.size === 0 || isLast) break;
			if (doubted.size === 0 && !isOver)
				await new Promise<void>((resolve) => {
					wake = () => resolve();
				});
		}
	} finally {
		off();
		cancel();
	}
	const failures = await lastFailures(scheduler, unexplained);
	const jobs = ids.map((id) => {
		const job = seen.get(id) as WaitedJob;
		return { ...job, name: names.get(id) ?? null, last_failure: failures.get(id) ?? job.last_failure };
	});
	return { jobs, done: open.size === 0 };
}

/** A job that gc has deleted meanwhile has reported its end nevertheless. */
async function lastFailures({ show }: Pick<Scheduler, "show">, ids: ReadonlySet<number>): Promise<Map<number, string | undefined>> {
	const failures = new Map<number, string | undefined>();
	for (const id of ids) {
		const view = await show(id).catch(() => undefined);
		failures.set(id, view?.last_failure);
	}
	return failures;
}
