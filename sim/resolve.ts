// From an operation of the plan to the call it means now: slots become ids, relative times absolute ones, picks jobs.

import type { JobInput } from "../src/core/job.ts";
import type { RunBounds } from "../src/core/trust/run-bounds.ts";
import type { Call } from "./engine/call.ts";
import { entries } from "./model/kernel.ts";
import { isActive, isKernel, isWaiting, type ModelJob, running, type State } from "./model/state.ts";
import type { Found } from "./model/sweep.ts";
import type { JobPlan, KernelOp, Op, Slot, Whom } from "./operation.ts";
import { chosen, hash } from "./random.ts";

export type Names = { idOf(slot: Slot): number | undefined; slotOf(id: number): Slot };

const MISSING = 999_999_999;

export function inputOf(plan: JobPlan, state: State, names: Names): JobInput {
	const input: JobInput = { ...plan.input };
	if (plan.runnable_in !== undefined) input.runnable_at = state.now + plan.runnable_in;
	if (plan.deadline_in !== undefined) input.deadline = state.now + plan.deadline_in;
	const after: NonNullable<JobInput["after"]> = [];
	for (const edge of plan.after ?? []) {
		const job = names.idOf(edge.slot);
		if (job === undefined || after.some((one) => typeof one === "object" && one.job === job)) continue;
		after.push({ job, ...(edge.policy === undefined ? {} : { policy: edge.policy }) });
	}
	for (const edge of plan.after_names ?? []) after.push({ job: edge.name, ...(edge.policy === undefined ? {} : { policy: edge.policy }) });
	if (plan.after_missing) after.push(MISSING);
	if (after.length > 0) input.after = after;
	const parent = plan.parent === undefined ? undefined : names.idOf(plan.parent);
	if (parent !== undefined) input.parent = parent;
	else if (input.parent === undefined) delete input.parent_gate;
	const needs = (plan.needs_jobs ?? []).flatMap(({ kind, slot }) => {
		const job = names.idOf(slot);
		return job === undefined ? [] : [`${kind}:${job}`];
	});
	if (needs.length > 0) input.needs = [...(input.needs ?? []), ...needs];
	return input;
}

function candidates(state: State, of: Whom["of"]): ModelJob[] {
	const jobs = state.jobs.filter((job) => !isKernel(job));
	if (of === "waiting") return jobs.filter(isWaiting);
	if (of === "running") return jobs.filter((job) => job.run !== undefined);
	if (of === "ended") return jobs.filter((job) => !isActive(job));
	if (of === "merging") return jobs.filter((job) => job.status === "succeeded" && job.will_merge);
	if (of === "held") return jobs.filter((job) => isWaiting(job) && job.hold);
	if (of === "asking") return jobs.filter((job) => isWaiting(job) && (job.approval === "needed" || job.question !== undefined));
	return jobs;
}

const someone = (state: State, whom: Whom, names: Names) => chosen(candidates(state, whom.of), whom.pick, (job) => names.slotOf(job.id));

/** What bounds the jobs of a run: the part of it that scheduling sees. */
function within(inside: number | undefined, state: State, names: Names): { within?: RunBounds } {
	const job = inside === undefined ? undefined : someone(state, { of: "running", pick: inside }, names);
	if (job === undefined) return {};
	const { id, priority, owner } = job;
	const reach: RunBounds["reach"] = {
		...{ folders: [], env: {}, usual_env: [], allow: [], accounts: [], branches: [], produces: [], host_labels: [] },
		merge: "direct",
	};
	return { within: { job: id, level: "full", priority, owner, reach } };
}

/** The call, or undefined when there is nobody it could be about. */
export function resolve(op: Op, state: State, names: Names): Call | undefined {
	const idFor = (whom: Whom) => (whom.of === "missing" ? MISSING : someone(state, whom, names)?.id);
	switch (op.kind) {
		case "tick":
			return { method: "tick", args: [] };
		case "add":
			return {
				method: "add",
				args: [inputOf(op.job, state, names), { ...(op.force ? { force: true } : {}), ...within(op.inside, state, names) }],
			};
		case "apply": {
			const jobs = op.jobs.map((plan) => inputOf(plan, state, names));
			const options = { ...(op.force ? { force: true } : {}), ...(op.again ? { again: true } : {}) };
			return { method: "apply", args: [{ jobs, ...(op.batch === undefined ? {} : { batch: op.batch }) }, options] };
		}
		case "claim":
			return {
				method: op.by_hand ? "runCycle" : "claim",
				args: [
					{
						worker: `w${op.id}`,
						...(op.max === undefined ? {} : { max: op.max }),
						...(op.lanes === undefined ? {} : { lanes: op.lanes }),
						...(op.kinds === undefined ? {} : { kinds: op.kinds }),
						...(op.host === undefined ? {} : { host: op.host }),
					},
				],
			};
		case "started":
		case "answered":
		case "extend": {
			const run = runFor(op.whom, op.stale ? "stale" : undefined, state, names);
			return run === undefined ? undefined : { method: op.kind, args: [run] };
		}
		case "end":
			return endCall(op, state, names);
		case "cancel": {
			const id = idFor(op.whom);
			return id === undefined ? undefined : { method: "cancel", args: [id, op.subtree ? { subtree: true } : {}] };
		}
		case "wait": {
			const run = runFor(op.whom, op.stale ? "stale" : undefined, state, names);
			const ids = op.picks.flatMap((pick) => someone(state, { of: op.of, pick }, names)?.id ?? []);
			return run === undefined || ids.length === 0 ? undefined : { method: "beginWait", args: [run, [...new Set(ids)]] };
		}
		case "unwait": {
			const open = running(state).flatMap(({ id, run }) =>
				(run?.waits ?? []).flatMap(({ wait }) => (run && wait !== null ? [{ run: { job: id, token: run.token }, wait }] : [])),
			);
			const one = chosen(open, op.pick, ({ run, wait }) => `${names.slotOf(run.job)}/${wait}`);
			return one && { method: "endWait", args: [one.run, one.wait] };
		}
		case "verdict": {
			const run = runFor(op.whom, op.stale ? "stale" : undefined, state, names);
			return run && { method: "verdict", args: [run, { verdict: op.verdict, text: `said by ${op.id}` }] };
		}
		case "result": {
			const run = runFor(op.whom, op.stale ? "stale" : undefined, state, names);
			return run && { method: "result", args: [run, op.value] };
		}
		case "unwait_all":
			return { method: "endWaits", args: [] };
		case "cancel_all": {
			const ids = op.picks.flatMap((pick) => someone(state, { of: op.of, pick }, names)?.id ?? []);
			return ids.length === 0 ? undefined : { method: "cancelAll", args: [[...new Set(ids)]] };
		}
		case "act": {
			const id = idFor(op.whom);
			return id === undefined ? undefined : actOn(id, op);
		}
		case "edit":
			return editCall(op, idFor(op.whom), state, names);
		case "merged": {
			const id = idFor(op.whom);
			return id === undefined ? undefined : { method: "merged", args: [id, op.status] };
		}
		default:
			return resolveStanding(op, state);
	}
}

function actOn(id: number, op: Op & { kind: "act" }): Call {
	if (op.what === "priority") return { method: "priority", args: [id, op.value ?? 0] };
	if (op.what === "runNow") return { method: "runNow", args: [id, op.force ? { force: true } : {}] };
	if (op.what === "hold" || op.what === "release" || op.what === "freeze" || op.what === "thaw") return { method: op.what, args: [[id]] };
	if (op.what === "answer") return { method: "answer", args: [id, op.text ?? "yes", op.grant === undefined ? {} : { grant: op.grant }] };
	return { method: op.what, args: [id] };
}

function editCall(op: Op & { kind: "edit" }, id: number | undefined, state: State, names: Names): Call | undefined {
	if (id === undefined) return undefined;
	const before = op.after?.pick === undefined ? undefined : someone(state, { of: "any", pick: op.after.pick }, names)?.id;
	const set = { ...op.set, ...(before === undefined ? {} : { after: [before] }) };
	return { method: "edit", args: [id, { set, ...(op.after && before === undefined ? { unset: ["after"] } : {}) }] };
}

function resolveStanding(op: Op, state: State): Call | undefined {
	switch (op.kind) {
		case "pause":
			return { method: "pause", args: [op.scope, op.until_in === undefined ? {} : { until: state.now + op.until_in }] };
		case "resume":
			return { method: "resume", args: [op.scope] };
		case "clear":
			return { method: "clear", args: [op.item === undefined ? {} : { item: op.item }] };
		case "mark":
			return { method: "mark", args: [op.artifact, op.absent ? { absent: true } : {}] };
		case "limit": {
			const { closed, until_in, retry_after_ms } = op;
			return {
				method: "limit",
				args: [
					op.account,
					{
						...(closed === undefined ? {} : { closed }),
						...(until_in === undefined ? {} : { until: state.now + until_in }),
						...(retry_after_ms === undefined ? {} : { retry_after_ms }),
					},
				],
			};
		}
		case "clear_account":
			return { method: "clearAccount", args: [op.account] };
		case "acquire":
			return { method: "acquireCall", args: [op.account, op.holder] };
		case "release":
			return { method: "releaseCall", args: [op.account, op.holder] };
		case "grant":
			return {
				method: "grant",
				args: [
					op.subject,
					op.dim,
					{
						limit: op.limit,
						...(op.window === undefined ? {} : { window: op.window }),
						...(op.on_breach === undefined ? {} : { on_breach: op.on_breach }),
						...(op.reserve === undefined ? {} : { reserve: op.reserve }),
					},
				],
			};
		case "charge":
			return { method: "charge", args: [op.subject, op.dim, op.amount] };
		case "configure":
			return { method: "configure", args: [op.config as unknown as Record<string, unknown>] };
		case "gc":
			return { method: "gc", args: [{ days: op.days }] };
		case "heartbeat":
			return { method: "heartbeat", args: [op.host] };
		default:
			return resolveKernel(op as KernelOp, state);
	}
}

/** A run of the model, with a token that is right, from an earlier run, or from one that has ended. */
function runFor(whom: Whom, how: "stale" | "twice" | undefined, state: State, names: Names): { job: number; token: number } | undefined {
	if (how === "twice" || how === "stale") {
		const past = state.past.filter((run) => how === "twice" || state.jobs.some((job) => job.id === run.job && job.run !== undefined));
		const run = chosen(past, whom.pick, (one) => `${names.slotOf(one.job)}/${one.token}`);
		return run === undefined ? undefined : { job: run.job, token: run.token };
	}
	const job = someone(state, whom, names);
	return job?.run === undefined ? undefined : { job: job.id, token: job.run.token };
}

function endCall(op: Op & { kind: "end" }, state: State, names: Names): Call | undefined {
	const run = runFor(op.whom, op.token, state, names);
	if (run === undefined) return undefined;
	const { end } = op;
	return {
		method: "complete",
		args: [
			{
				...run,
				exit_kind: end.kind,
				...(end.code === undefined ? {} : { exit_code: end.code }),
				...(end.usage === undefined ? {} : { usage: end.usage }),
				...(end.session === undefined ? {} : { session: end.session }),
				...(end.until_in === undefined ? {} : { until: state.now + end.until_in }),
				...(end.retry_after_ms === undefined ? {} : { retry_after_ms: end.retry_after_ms }),
				...(end.closed === undefined ? {} : { closed: end.closed }),
				...(end.question === undefined ? {} : { question: end.question }),
				...(end.denied === undefined ? {} : { denied: end.denied }),
				...(end.closing_question === undefined ? {} : { closing_question: end.closing_question }),
				...(end.reboot === undefined ? {} : { reboot: true }),
				...(end.outage === undefined ? {} : { outage: true }),
				...(end.goes_on === undefined ? {} : { goes_on: true }),
				...(end.fault === undefined ? {} : { fault: end.fault }),
				...(end.stays === undefined ? {} : { stays: true }),
				...(end.merge_status === undefined ? {} : { merge_status: end.merge_status }),
			},
		],
	};
}

/** What a host finds after a restart: decided by a hash, the same for the same run. */
export function recoverCall(pick: number, reboot: boolean, host: string, state: State, names: Names): Call {
	const mine = running(state).filter((job) => job.run?.host === host);
	const found: Found[] = mine.map((job) => {
		const value = hash(pick, names.slotOf(job.id), job.attempt) % 8;
		const run = `${job.id}.${job.run?.attempt}`;
		if (reboot) return value < 5 ? { run, state: "gone" } : { run, state: "exited", exit_code: 0 };
		if (value < 3) return { run, state: "alive" };
		if (value < 5) return { run, state: "exited", exit_code: value === 3 ? 0 : 1 };
		// A process that was there cannot be unstarted.
		return value < 6 && job.run?.launched !== true ? { run, state: "unstarted" } : { run, state: "gone" };
	});
	return { method: "recover", args: [found, { host, ...(reboot ? { reboot: true } : {}) }] };
}

function resolveKernel(op: KernelOp, state: State): Call | undefined {
	const agent = (pick: number) => chosen(state.agents, pick, (one) => one.name)?.pid;
	const entry = (pick: number) => chosen(entries(state), pick, (job) => `${job.id}`);
	const seconds = (ms: number) => ms / 1000;
	if (op.kind === "k_agent") return { method: "kernel.agent.create", args: [{ name: op.name }] };
	if (op.kind === "k_claim")
		return {
			method: "kernel.claim",
			args: [
				{ worker_id: op.worker, ...(op.max === undefined ? {} : { max_n: op.max }), ...(op.unchecked ? { admission_check: false } : {}) },
			],
		};
	if (op.kind === "k_expire") return { method: "kernel.gcExpired", args: [{}] };
	if (op.kind === "k_stale") return { method: "kernel.gcDispatched", args: [{ stale_seconds: op.seconds }] };
	if (op.kind === "k_complete" || op.kind === "k_cancel" || op.kind === "k_extend") {
		const job = entry(op.pick);
		if (job === undefined) return undefined;
		if (op.kind === "k_cancel") return { method: "kernel.cancel", args: [{ sched_id: job.id }] };
		const worker_id = op.wrong_worker ? "nobody" : (job.worker ?? "w1");
		if (op.kind === "k_extend") return { method: "kernel.extend", args: [{ sched_id: job.id, worker_id }] };
		return { method: "kernel.complete", args: [{ sched_id: job.id, exit_kind: op.exit, ...(op.wrong_worker ? { worker_id } : {}) }] };
	}
	if (op.kind === "k_enqueue") {
		const pid = op.bad ? 4711 : agent(op.pick);
		if (pid === undefined) return undefined;
		const params = {
			pid,
			...(op.priority === undefined ? {} : { priority: op.priority }),
			...(op.in_s === undefined ? {} : { runnable_at: seconds(state.now) + op.in_s }),
			...(op.deadline_in_s === undefined ? {} : { deadline: seconds(state.now) + op.deadline_in_s }),
			...(op.trigger === undefined ? {} : { trigger: op.trigger }),
		};
		return op.unique === undefined
			? { method: "kernel.enqueue", args: [params] }
			: { method: "kernel.enqueueUnique", args: [{ ...params, dedupe_by: op.unique }] };
	}
	const pid = agent(op.pick);
	if (pid === undefined) return undefined;
	if (op.kind === "k_move") return { method: "kernel.agent.transition", args: [{ pid, to: op.to }] };
	if (op.kind === "k_grant")
		return {
			method: "kernel.ledger.grant",
			args: [{ pid, dim: op.dim, limit: op.limit, ...(op.window === undefined ? {} : { window: op.window }) }],
		};
	const method = op.kind === "k_charge" ? "kernel.ledger.charge" : op.kind === "k_refund" ? "kernel.ledger.refund" : "kernel.ledger.check";
	return { method, args: [{ pid, dim: op.dim, amount: op.amount }] } as Call;
}
