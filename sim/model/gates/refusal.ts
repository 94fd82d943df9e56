// The job gates but `locks`, from the table in the spec: what stands between a job and being ready, each evaluated by itself.

import type { Condition, Terminal } from "../../../src/core/job.ts";
import type { GateName, ReasonCode } from "../../../src/core/reason.ts";
import { find, isActive, type ModelJob, type State } from "../state.ts";

export type Refusal = {
	gate: GateName;
	/** Any of these names it rightly. */
	codes: ReasonCode[];
	/** Undefined: not compared. */
	subject?: string;
	detail?: string;
	/** True, but need not be said. */
	optional?: true;
	/** It can never pass again: the job ends so. */
	verdict?: { status: Terminal; reason?: string };
};

export function time(job: ModelJob, now: number): Refusal[] {
	const list: Refusal[] = [];
	const at = Math.max(now, job.noticed_at ?? 0);
	if (!job.come && job.runnable_at > now) list.push({ gate: "time", codes: ["delayed"] });
	if (job.backoff_until !== undefined && job.backoff_until > at) list.push({ gate: "time", codes: ["backoff"] });
	return list;
}

export function deadline(job: ModelJob, now: number): Refusal[] {
	if (job.deadline === undefined || job.deadline > now) return [];
	return [{ gate: "deadline", codes: ["deadline"], verdict: { status: "expired" } }];
}

export const held = (job: ModelJob): Refusal[] => (job.hold ? [{ gate: "held", codes: ["held"] }] : []);

export function after(state: State, job: ModelJob): Refusal[] {
	const list: Refusal[] = [];
	for (const edge of job.after) {
		const wait = (detail: string): Refusal => ({ gate: "after", codes: ["dependencies"], subject: `job:${edge.job}`, detail });
		const block = (reason: string): Refusal => ({ ...wait(reason), verdict: { status: "blocked_by_dependency", reason } });
		const before = find(state, edge.job);
		if (before === undefined) {
			list.push(block(`missing job dependency ${edge.job}`));
			continue;
		}
		if (isActive(before)) {
			list.push(wait(`waiting on job ${edge.job}`));
			continue;
		}
		const never = block(`dependency failed for job ${edge.job} (${before.status})`);
		if (edge.policy === "success" && before.status !== "succeeded") list.push(never);
		if (edge.policy === "failure" && !["failed", "expired", "blocked_by_dependency"].includes(before.status)) list.push(never);
		if (edge.policy === "merged") {
			if (before.status !== "succeeded") list.push(never);
			else if (before.merge_status === "kept" || before.merge_status === "none") list.push(never);
			else if (before.merge_status !== "merged") list.push(wait(`waiting on job ${edge.job}`));
		}
	}
	return list;
}

const REPO_BOUND = ["probe", "file", "branch", "doc", "commits", "ahead"];

/** The key under which a host tells of an artifact, for a job of this repo. */
export const artifactKey = (artifact: string, repo: string | undefined) =>
	repo !== undefined && REPO_BOUND.includes(artifact.split(":")[0] ?? "") ? `artifact:${artifact}@${repo}` : `artifact:${artifact}`;

/** Done, but its work has not arrived: what a repository shows is decided afterwards. */
export const isMerging = (job: ModelJob) =>
	job.status === "succeeded" && job.will_merge && ["pending", "base_dirty", "conflict", "verify_failed"].includes(job.merge_status ?? "");

export type Presence = "present" | "missing" | "unknown" | "unreadable";

export function presence(state: State, job: ModelJob, artifact: string): Presence {
	const [kind, ...rest] = artifact.split(":");
	if (kind === "custom" || kind === "sentinel") return state.markers.includes(artifact) ? "present" : "missing";
	const maker = find(state, Number(rest[0]));
	const succeeded = maker?.status === "succeeded";
	if (kind === "job") return succeeded ? "present" : "missing";
	if (kind === "patch" && succeeded) return "present";
	// What an earlier run has left is out of date while the job is open.
	if (kind === "patch" && maker !== undefined && maker.id !== job.id && isActive(maker)) return "missing";
	const fact = state.facts[artifactKey(artifact, job.repo)];
	if (fact === undefined) return "unknown";
	if (fact !== null && typeof fact === "object" && "error" in fact) return "unreadable";
	return fact === true ? "present" : "missing";
}

/** Jobs, other than this one, that make the artifact where this one looks for it. */
export function producers(state: State, job: ModelJob, artifact: string): ModelJob[] {
	const [kind, id] = artifact.split(":");
	const key = artifactKey(artifact, job.repo);
	const makes = (maker: ModelJob) => maker.produces.includes(artifact) && artifactKey(artifact, maker.repo) === key;
	const is = (maker: ModelJob) => (kind === "job" || kind === "patch") && maker.id === Number(id);
	return state.jobs.filter((maker) => maker.id !== job.id && (makes(maker) || is(maker)));
}

export function artifacts(state: State, job: ModelJob): Refusal[] {
	const list: Refusal[] = [];
	for (const artifact of job.needs) {
		const is = presence(state, job, artifact);
		if (is === "present") continue;
		const wait = (detail: string): Refusal => ({ gate: "artifacts", codes: ["dependencies"], subject: artifact, detail });
		const makers = producers(state, job, artifact);
		if (is === "unknown") {
			// Nobody has looked yet; while somebody is at work on it, that says as much.
			list.push({
				gate: "artifacts",
				codes: makers.some(isActive) || artifact.startsWith("patch:") ? ["probing", "dependencies"] : ["probing"],
				subject: artifact,
			});
			continue;
		}
		if (is === "unreadable") {
			list.push({ gate: "artifacts", codes: ["probing", "dependencies"], subject: artifact });
			continue;
		}
		if (makers.some(isActive)) {
			list.push(wait(`waiting on ${artifact}`));
			continue;
		}
		if (REPO_BOUND.includes(artifact.split(":")[0] ?? "") && makers.some(isMerging)) {
			list.push({ gate: "artifacts", codes: ["probing"], subject: artifact });
			continue;
		}
		const never =
			makers.length === 0 || makers.some((maker) => maker.status === "succeeded")
				? `missing ${artifact}`
				: `dependency failed for ${artifact}`;
		if (job.on_missing === "wait") list.push(wait(`awaiting producer for ${artifact}`));
		else list.push({ ...wait(never), verdict: { status: "blocked_by_dependency", reason: never } });
	}
	return list;
}

export function item(state: State, job: ModelJob): Refusal[] {
	if (job.item === undefined) return [];
	const fact = state.facts[`item:${job.item}`];
	if (fact === undefined) return [];
	if (fact === null || typeof fact !== "object") return [];
	if ("error" in fact) return [{ gate: "item", codes: ["probing", "item_blocked"] }];
	if (!fact.open) return [{ gate: "item", codes: ["item_blocked"], verdict: { status: "cancelled", reason: "item_closed" } }];
	const isOurs = job.attempt > 0 || job.take_over === true || state.begun[job.item] === job.chain;
	const isFree = (fact.blocked_by ?? []).length === 0 && fact.held === undefined && (fact.taken === undefined || isOurs);
	return isFree ? [] : [{ gate: "item", codes: ["item_blocked"] }];
}

export function head(state: State, job: ModelJob): Refusal[] {
	if (job.pinned_head === undefined) return [];
	const fact = state.facts[`head:${job.repo ?? ""}:${job.pinned_head.branch}`];
	if (fact === undefined) return [{ gate: "head", codes: ["probing"] }];
	if (fact !== null && typeof fact === "object") return [{ gate: "head", codes: ["probing", "pinned_head"] }];
	if (fact === job.pinned_head.commit) return [];
	return [{ gate: "head", codes: ["pinned_head"], detail: `pinned head mismatch on ${job.pinned_head.branch}` }];
}

/** Our own spelling of a condition; the fake host translates the engine's. */
export function conditionKey(condition: Condition, repo: string | undefined): string {
	const text =
		condition.kind === "command"
			? `command:${condition.argv.join(" ")}`
			: condition.kind === "branch_exists"
				? `branch_exists:${condition.branch}`
				: condition.kind;
	return `condition:${text}${repo === undefined ? "" : `@${repo}`}`;
}

export function conditions(state: State, job: ModelJob): Refusal[] {
	const list: Refusal[] = [];
	for (const condition of job.conditions) {
		const fact = state.facts[conditionKey(condition, job.repo)];
		if (fact === undefined) list.push({ gate: "conditions", codes: ["probing"] });
		else if (fact !== true) list.push({ gate: "conditions", codes: fact === false ? ["condition"] : ["condition", "probing"] });
	}
	return list;
}

export function approval(job: ModelJob): Refusal[] {
	const list: Refusal[] = [];
	if (job.approval === "needed") list.push({ gate: "approval", codes: ["approval"] });
	if (job.question !== undefined) list.push({ gate: "approval", codes: ["needs_human"] });
	return list;
}

/** Gates `held` to `approval`: those that events, not time, change. */
export const rest = (state: State, job: ModelJob): Refusal[] => [
	...held(job),
	...after(state, job),
	...artifacts(state, job),
	...item(state, job),
	...head(state, job),
	...conditions(state, job),
	...approval(job),
];

/** The job gates but `locks`. */
export const early = (state: State, job: ModelJob, now: number): Refusal[] => [
	...time(job, now),
	...deadline(job, now),
	...rest(state, job),
];
