// `add` and `apply`: the four outcomes, and the job that comes of an accepted input.

import type { AddResult } from "../../src/contracts/scheduler.ts";
import { hardLimit, softLimit } from "../../src/core/config.ts";
import type { JobInput, Lock, RetryPolicy } from "../../src/core/job.ts";
import type { RunBounds } from "../../src/core/trust/run-bounds.ts";
import { agree, agreeSame, refused, type Seen } from "./agree.ts";
import { cancelWaiting } from "./control.ts";
import { laneOrder } from "./order.ts";
import { policyOf } from "./retry-policy.ts";
import { settle } from "./settle.ts";
import { find, isActive, isWaiting, type ModelJob, named, type State, waiting } from "./state.ts";
import { defaultLane, type Edge, faultsOf, itemKey } from "./validate.ts";

const number = (value: number | string | null | undefined): number | undefined => (typeof value === "number" ? value : undefined);

/** After-edges of an input whose references are ids, its parent's gate included. */
export function edgesOf(state: State, input: JobInput, names: Record<string, number> = {}): Edge[] {
	const edges: Edge[] = (input.after ?? []).map((one) => {
		const { job, policy = "success" } = typeof one === "object" ? one : { job: one };
		return { job: typeof job === "number" ? job : (names[job] ?? named(state, job)?.id ?? -1), policy };
	});
	const gate = input.parent_gate ?? state.config.parents.gate;
	const parent = parentOf(state, input);
	if (parent !== undefined && gate === "success" && !edges.some((edge) => edge.job === parent))
		edges.push({ job: parent, policy: "success" });
	return edges;
}

/** Its parent's number; -1 where it names one that is not there. */
const parentOf = (state: State, { parent }: JobInput): number | undefined =>
	typeof parent === "string" ? (named(state, parent)?.id ?? -1) : parent;

export function locksOf(state: State, input: JobInput): Lock[] {
	const locks: Lock[] = (input.locks ?? []).map((lock) =>
		typeof lock === "string" ? { key: lock, mode: "exclusive" } : { key: lock.key, mode: lock.mode ?? "exclusive" },
	);
	if (input.serial !== undefined) locks.push({ key: `serial:${input.serial}`, mode: "exclusive" });
	if (input.parallelizable === false)
		locks.push({ key: `serial:${input.source ?? ""}:${input.phase ?? ""}:${input.lane ?? defaultLane(state)}`, mode: "exclusive" });
	if (input.worktree !== undefined) locks.push({ key: `branch:${input.repo ?? ""}:${input.worktree}`, mode: "exclusive" });
	return locks;
}

/** The job an accepted input becomes. */
export function makeJob(state: State, id: number, input: JobInput, edges: Edge[], options: { force?: boolean } = {}): ModelJob {
	const { now } = state;
	const parent = find(state, parentOf(state, input) ?? 0);
	const job: ModelJob = {
		id,
		chain: id,
		status: "queued",
		kind: input.agent !== undefined ? "agent" : input.command !== undefined ? "command" : "payload",
		lane: input.lane ?? defaultLane(state) ?? "default",
		path: parent === undefined ? [] : [...parent.path, parent.id],
		trigger: input.trigger ?? "manual",
		priority: input.priority ?? 0,
		rank: 0,
		first: 0,
		forced: false,
		created_at: now,
		runnable_at: number(input.runnable_at) ?? now,
		come: input.runnable_at === undefined || Number(input.runnable_at) <= now,
		after: edges,
		needs: input.needs ?? [],
		on_missing: input.on_missing ?? state.config.on_missing,
		produces: input.produces ?? [],
		conditions: (input.conditions ?? []).map((one) => (typeof one === "string" ? { kind: "clean_worktree" } : one)),
		locks: locksOf(state, input),
		uses: input.uses ?? {},
		host_labels: input.host_labels ?? [],
		will_merge: input.repo !== undefined && input.no_merge !== true && input.merge !== "local",
		failures: 0,
		attempt: 0,
		dispatch_failures: 0,
	};
	for (const field of ["name", "repo", "account", "owner", "agent", "batch", "phase", "pinned_head"] as const) {
		if (input[field] !== undefined) Object.assign(job, { [field]: input[field] });
	}
	// Whoever pays for the parent pays for it.
	const owner = job.owner ?? find(state, job.path.at(-1) ?? 0)?.owner;
	if (owner !== undefined) job.owner = owner;
	if (typeof input.deadline === "number") job.deadline = input.deadline;
	if (input.item !== undefined) job.item = itemKey(input);
	const fact = state.facts[`item:${job.item}`];
	if (options.force && fact !== null && typeof fact === "object" && "taken" in fact) job.take_over = true;
	if (input.hold) job.hold = true;
	if (input.requires_approval) job.approval = "needed";
	if (input.unique !== undefined) {
		const window = number(input.unique.window_ms);
		job.unique = { key: input.unique.key, ...(window === undefined ? {} : { window_ms: window }) };
	}
	if (input.retry !== undefined) {
		const base: RetryPolicy = policyOf(state, job);
		const on = ["failed", "crashed", "timeout", "stalled", "lost"] as const;
		job.retry = typeof input.retry === "number" ? { ...base, on, max: input.retry } : { ...base, on, ...input.retry };
	}
	return job;
}

/** The open job of this item's chain. */
export const openChain = (state: State, item: string) => state.jobs.find((job) => job.item === item && isActive(job));

/** The job that this unique key means within its window. */
export function duplicateOf(state: State, input: JobInput): ModelJob | undefined {
	const { unique } = input;
	if (unique === undefined) return undefined;
	const window = number(unique.window_ms);
	const within = (job: ModelJob, ms: number) => job.created_at + ms > state.now;
	const last = find(state, state.uniques[unique.key] ?? 0);
	if (last === undefined) return undefined;
	// The window of the new one decides, else that of the earlier one; with neither, the earlier one counts as long as it is active.
	const ms = window ?? last.unique?.window_ms;
	return (ms === undefined ? isActive(last) : within(last, ms)) ? last : undefined;
}

/**
 * Jobs that count as backlog, at least and at most. At least: those that wait for their turn alone and, where serial waiters count, those that wait for
 * a lock and have none but serial ones. At most: all that passed the job gates but `locks`.
 */
export function backlog(state: State, seen: Seen): [number, number] {
	const ready = waiting(state).filter((job) => job.ready_at !== undefined);
	// One whose key is free may still stand in its line, behind a better one that was woken first.
	const isParked = (job: ModelJob) => job.wait !== undefined || seen.job(job.id)?.status === "waiting_on_locks";
	const isSerial = (job: ModelJob) =>
		state.config.queue.count_serial &&
		seen.job(job.id)?.status === "waiting_on_locks" &&
		job.locks.every(({ key }) => key.startsWith("serial:"));
	return [ready.filter((job) => !isParked(job) || isSerial(job)).length, ready.length];
}

/** A run adds below its own job, before which none of it goes. */
const asChild = (input: JobInput, { job, priority }: RunBounds): JobInput => ({
	...input,
	parent: input.parent ?? job,
	...(input.priority === undefined || input.priority <= priority ? {} : { priority }),
	// A job without a priority has 0, which may be more than the run's.
	...(input.priority === undefined && priority < 0 ? { priority } : {}),
});

const isBelow = (job: ModelJob, run: number): boolean => job.id === run || job.path.includes(run);

/** What a run may not add. */
function runFaults(state: State, input: JobInput, options: { force?: boolean }, { job, owner }: RunBounds): ReturnType<typeof faultsOf> {
	const parent = find(state, parentOf(state, input) ?? 0);
	const why = [
		...(options.force ? ["a run has no force"] : []),
		...(parent !== undefined && !isBelow(parent, job) ? [`job ${parent.id} is not below job ${job}`] : []),
		...(owner !== undefined && input.owner !== undefined && input.owner !== owner ? [`${owner} pays, not ${input.owner}`] : []),
	];
	return why.map((one) => ({ codes: ["forbidden"], why: one }));
}

export function add(state: State, given: JobInput, options: { force?: boolean; within?: RunBounds }, seen: Seen): void {
	const { within } = options;
	const input = within ? asChild(given, within) : given;
	const edges = edgesOf(state, input);
	const faults = faultsOf(state, input, edges, { force: options.force === true, within: "add" });
	const twin = duplicateOf(state, input);
	const chain = input.item === undefined ? undefined : openChain(state, itemKey(input));
	if (within) faults.push(...runFaults(state, input, options, within));
	const isForeign = within && twin !== undefined && input.unique?.policy === "replace" && isWaiting(twin) && !isBelow(twin, within.job);
	if (isForeign && (chain === undefined || seen.error !== undefined))
		faults.push({ codes: ["forbidden"], why: `job ${twin.id} is not below job ${within.job}` });
	const clashes = twin !== undefined && input.unique?.policy === "error";
	if (clashes && (chain === undefined || seen.error !== undefined))
		faults.push({ codes: ["conflict"], why: `unique key of job ${twin.id}` });
	if (seen.error !== undefined || faults.length > 0) {
		refused(
			seen,
			faults.flatMap((fault) => fault.codes),
			faults.map((fault) => fault.why).join("; ") || "nothing is wrong with it",
		);
		return;
	}
	const result = seen.result as AddResult | undefined;
	const [least, most] = backlog(state, seen);
	const hard = hardLimit(state.config);
	const allowed = new Set<AddResult["outcome"]>();
	if (chain !== undefined) allowed.add("already_running");
	if (twin !== undefined && (input.unique?.policy !== "replace" || !isWaiting(twin))) allowed.add("duplicate");
	if (most >= hard) allowed.add("deferred");
	// One that is replaced makes room for the new one.
	const room = twin !== undefined && isWaiting(twin) ? 1 : 0;
	if (allowed.size === 0 || (least - room < hard && allowed.size === 1 && allowed.has("deferred"))) allowed.add("queued");
	const outcome = result?.outcome ?? (seen.fresh.length > 0 ? "queued" : [...allowed].find((one) => one !== "queued"));
	agree(outcome !== undefined && allowed.has(outcome), `add answered ${outcome}, the model says ${[...allowed].join(" or ")}`);
	// Where several jobs of the chain are open, it may name any.
	if (result?.outcome === "already_running") {
		const named = find(state, result.job);
		agree(
			named !== undefined && isActive(named) && named.item === itemKey(input),
			`already_running: names ${result.job}, not ${chain?.id}`,
		);
	}
	if (result?.outcome === "duplicate") agreeSame(result.job, twin?.id, "duplicate: the existing job");
	if (result?.outcome === "deferred") agreeSame(result.limit, hard, "deferred: the limit");
	if (outcome !== "queued") {
		agree(seen.fresh.length === 0, `add answered ${outcome} but stored job ${seen.fresh[0]}`);
		return;
	}
	agreeSame(seen.fresh.length, 1, "jobs stored by one add");
	const id = seen.fresh[0] as number;
	if (result?.outcome === "queued") agreeSame(result.job.id, id, "add: the new job's id");
	if (twin !== undefined) replace(state, twin, seen);
	enter(state, makeJob(state, id, input, edges, options));
	settle(state, seen);
	if (result?.outcome === "queued") checkAnswer(state, find(state, id) as ModelJob, result, most, seen);
}

/** unique: replace — the waiting one makes room. */
function replace(state: State, twin: ModelJob, seen: Seen): void {
	if (isWaiting(twin)) cancelWaiting(state, twin, seen.job(twin.id)?.end_reason);
	else if (twin.run !== undefined && seen.job(twin.id)?.run?.intent !== undefined) twin.run.intent = "cancelled";
}

export function enter(state: State, job: ModelJob): void {
	agree(job.id > state.last_id, `job id ${job.id} is not newer than ${state.last_id}`);
	state.last_id = job.id;
	state.jobs.push(job);
	if (job.unique !== undefined) state.uniques[job.unique.key] = job.id;
	const root = job.path[0];
	if (root !== undefined) state.families[root] = (state.families[root] ?? 0) + 1;
}

function checkAnswer(state: State, job: ModelJob, result: AddResult & { outcome: "queued" }, most: number, seen: Seen): void {
	const shown = seen.job(job.id)?.status;
	if (!seen.blurred && shown !== undefined) agreeSame(result.job.status, shown, `add: status of job ${job.id}, as answered and as shown`);
	const soft = softLimit(state.config);
	if (result.warning !== undefined && /delayed; respecting caps/.test(result.warning))
		agree(most + 1 > soft, `backpressure warning at ${most + 1} ready, soft limit ${soft}`);
	const [least] = backlog(state, seen);
	if (least > soft + 1) agree(result.warning !== undefined, `no backpressure warning at ${least} ready, soft limit ${soft}`);
	if (!seen.blurred && job.ready_at !== undefined && seen.job(job.id)?.wait_reason === undefined)
		agreeSame(result.position, positionOf(state, job, seen), `position of job ${job.id}`);
}

/** Its place among those of its lane that wait for their turn, and for nothing that the engine shows. */
export function positionOf(state: State, job: ModelJob, seen: Pick<Seen, "job">): number {
	const mates = waiting(state).filter(
		(other) => other.lane === job.lane && other.ready_at !== undefined && seen.job(other.id)?.wait_reason === undefined,
	);
	const firsts = mates.filter((other) => other.first > 0).sort((a, b) => b.first - a.first);
	const order = [
		...firsts,
		...laneOrder(
			state,
			mates.filter((other) => other.first === 0),
			state.now,
		),
	];
	return order.indexOf(job) + 1;
}
