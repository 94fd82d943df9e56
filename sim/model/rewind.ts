// `retry` (rewind: a job and everything downstream of it) and `rerun` (the job alone).

import type { RewindReport } from "../../src/contracts/scheduler.ts";
import { accepted, agree, agreeSame, refused, type Seen } from "./agree.ts";
import { known } from "./control.ts";
import { after, artifactKey } from "./gates/refusal.ts";
import { settle } from "./settle.ts";
import { isActive, isKernel, isWaiting, type ModelJob, type State, waiting } from "./state.ts";

const dependsOn = (job: ModelJob, before: ModelJob): boolean =>
	job.after.some((edge) => edge.job === before.id) ||
	job.needs.some(
		(artifact) =>
			(before.produces.includes(artifact) && artifactKey(artifact, before.repo) === artifactKey(artifact, job.repo)) ||
			artifact === `job:${before.id}` ||
			artifact === `patch:${before.id}`,
	);

/** The root and all that depends on it, over after-edges and artifacts. */
export function downstream(state: State, root: ModelJob): ModelJob[] {
	const set = [root];
	for (let grown = true; grown; ) {
		grown = false;
		for (const job of state.jobs) {
			if (set.includes(job) || isKernel(job)) continue;
			if (set.some((before) => dependsOn(job, before))) {
				set.push(job);
				grown = true;
			}
		}
	}
	return set;
}

const isDead = (state: State, job: ModelJob, edge: ModelJob["after"][number]): boolean =>
	after(state, { ...job, after: [edge] }).some((refusal) => refusal.verdict !== undefined);

/** Its children that its end had blocked come back with it, and theirs; not one that something else blocks, or whose name or item another job has now. */
function withChildren(state: State, root: ModelJob): ModelJob[] {
	const set = isActive(root) ? [] : [root];
	const blocked = (job: ModelJob) => job.status === "blocked_by_dependency" && !set.includes(job);
	for (const before of set)
		for (const job of state.jobs.filter(blocked))
			if (job.path.at(-1) === before.id && job.after.some((edge) => edge.job === before.id && isDead(state, job, edge))) set.push(job);
	const isTaken = (job: ModelJob) =>
		state.jobs.some(
			(one) =>
				isActive(one) &&
				((job.name !== undefined && one.name === job.name) || (job.item !== undefined && one.item === job.item && one.chain !== job.chain)),
		);
	const stays = (job: ModelJob) =>
		job === root || (!isTaken(job) && job.after.every((edge) => set.some((one) => one.id === edge.job) || !isDead(state, job, edge)));
	for (let at = 0; at < set.length; at++) {
		if (stays(set[at] as ModelJob)) continue;
		set.splice(at, 1);
		at = -1;
	}
	return set.length > 0 ? set : [root];
}

export function rewind(state: State, id: number, scope: "downstream" | "alone", seen: Seen): void {
	const root = known(state, id, seen);
	if (root === undefined) return;
	const set = scope === "alone" ? withChildren(state, root) : downstream(state, root);
	const problems: string[] = [];
	if (scope === "alone" && isWaiting(root) && (root.backoff_until ?? 0) <= state.now)
		problems.push(`job ${id} waits for something else than a back-off`);
	const busy = set.filter((job) => job.status === "running").map((job) => job.id);
	if (busy.length > 0) problems.push(`running: ${busy.join(", ")}`);
	if (set.some((job) => job.repo !== undefined && typeof state.facts[`busy:${job.repo}`] === "string"))
		problems.push("git is in the middle of something");
	// Those that ended take their item again: it must be free, or their own chain's.
	const ended = set.filter((job) => !isActive(job) && job.item !== undefined);
	for (const job of ended) {
		const other = state.jobs.find((one) => isActive(one) && one.item === job.item && one.chain !== job.chain);
		if (other !== undefined) problems.push(`item ${job.item} belongs to job ${other.id}`);
		const rival = ended.find((one) => one.item === job.item && one.chain !== job.chain);
		if (rival !== undefined) problems.push(`jobs ${job.id} and ${rival.id} share item ${job.item}`);
	}
	for (const job of set.filter((one) => !isActive(one) && one.name !== undefined)) {
		const holder = state.jobs.find((one) => one.name === job.name && one !== job && (isActive(one) || set.includes(one)));
		if (holder !== undefined) problems.push(`job ${holder.id} is called ${job.name}, too`);
	}
	if (seen.error !== undefined || problems.length > 0) {
		refused(
			seen,
			isKernel(root) ? ["illegal_transition", "conflict"] : ["conflict", "illegal_transition"],
			problems.join("; ") || "nothing is in the way",
		);
		agree(problems.length > 0 || isKernel(root), `${scope} rewind of ${id} was refused for nothing: ${seen.error?.message}`);
		return;
	}
	const result = accepted<RewindReport>(seen);
	const points = state.jobs.filter((job) => job.status === "succeeded" && !set.includes(job) && dependsOn(root, job)).map((job) => job.id);
	for (const job of set) {
		reset(job);
		// What it made is no longer there to be found, or must be looked at again.
		state.markers = state.markers.filter((marker) => !job.produces.includes(marker));
		for (const artifact of job.produces) delete state.facts[artifactKey(artifact, job.repo)];
	}
	// For a moment it is active again, even if it ends at once: who waited for its end has not been ready without a break.
	for (const job of waiting(state)) {
		if (!job.after.some((edge) => set.some((one) => one.id === edge.job))) continue;
		delete job.rest_at;
		delete job.ready_at;
	}
	settle(state, seen);
	if (result === undefined) return;
	agreeSame([...result.reset].sort(), set.map((job) => job.id).sort(), `rewind of ${id}: reset`);
	if (scope === "downstream")
		agreeSame([...new Set(result.last_successful)].sort(), [...new Set(points)].sort(), `rewind of ${id}: last successful point`);
}

function reset(job: ModelJob): void {
	job.status = "queued";
	job.failures = 0;
	job.dispatch_failures = 0;
	for (const field of [
		"outage",
		"backoff_until",
		"noticed_at",
		"rest_at",
		"ready_at",
		"wait",
		"ended_at",
		"exit_code",
		"raw_exit_code",
		"exit_kind",
		"end_reason",
		"session",
		"prefer",
		"question",
		"verdict",
		"result",
		"granted",
		"denied",
		"closing_question",
		"merge_status",
	] as const)
		delete job[field];
}
