// `edit`: changes any field of a waiting job. The job becomes input again, the caller's fields replace some of it, and the result is checked like that of
// `add`; then the job is changed as `apply --update` changes it. It keeps its number, its age, its back-off, its history and its dependents.

import type { EditResult } from "../../contracts/scheduler.ts";
import type { Op } from "../../contracts/store.ts";
import { SluiceError } from "../../core/errors.ts";
import { isProbed } from "../../core/fact.ts";
import { factKeys } from "../../core/gates/job-gates.ts";
import * as check from "../../core/input/check.ts";
import { type Draft, draftJob } from "../../core/input/job.ts";
import { changedFields, inputOf } from "../../core/input/job-input.ts";
import { type After, isWaiting, type Job, type JobInput, type JobSpec } from "../../core/job.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import { INPUT_KEYS, type JobKey, keysMarked } from "../../core/schema/job.ts";
import { JsonText } from "../../core/text/json-text.ts";
import { isOneOf } from "../../core/text/one-of.ts";
import { checkPlace, findTwin, predecessors, refuseUnmergeable, resolveAfter } from "../operations/add.ts";
import { dropName, namesIn, numberNames, putNumbersInto, refuseTaken, takeName } from "../operations/names.ts";
import { learn, type ProbedFacts } from "../operations/observe.ts";
import { mustFind } from "../transaction/find-job.ts";
import type { Tx } from "../transaction/tx.ts";
import { viewJob } from "../views/jobs.ts";
import { edgesOf, recount } from "../waiting/gate-facts.ts";
import { reevaluate } from "../waiting/park.ts";
import { change, refuseCircle } from "./update.ts";

/** `payload_json`: the exact text of a new payload that JSON cannot carry. `agents`: known names of agents; absent = any. */
export type Edit = {
	job: number;
	set: JobInput;
	payload_json?: string | undefined;
	unset: readonly string[];
	agents?: readonly string[] | undefined;
	seen?: ProbedFacts | undefined;
};

/** What a job is, or what has already been made of: to change it is to add another job. */
const FIXED: Partial<Record<JobKey, string>> = {
	item: "a job keeps its item",
	source: "a job keeps its item",
	parent: "a job keeps its parent",
	trigger: "it says what caused the job",
	recipe: "the recipe has already made the job: change the prompt",
	vars: "they are already in the prompt: change the prompt",
};

/** Fields that only its host reads: a change of these leaves the job where it waits. */
const FOR_ITS_HOST: readonly string[] = [
	...keysMarked("spec").filter((key) => !["worktree", "merge", "no_merge", "cwd", "owned"].includes(key)),
	...["timeout", "stall_timeout", "payload"],
];

/** Fields that a job must not have in an impossible combination; an unchanged one may, since the job was then added with force. */
const IMPOSSIBLE: readonly JobKey[] = ["lane", "uses", "host_labels", "repo", "agent"];

/** The facts that a host should probe before the job is changed. */
export function* factsOfEdit(tx: Tx, edit: Edit): Op<string[]> {
	const { draft } = yield* drafted(tx, edit);
	return factKeys(draft.job).filter(isProbed);
}

type Drafted = { job: Job; spec: JobSpec; draft: Draft; after: After[]; before: JobInput; now: JobInput };

/** The job as it would be. All that can be refused without a change is refused here. */
function* drafted(tx: Tx, { job: id, set, payload_json, unset, agents }: Edit): Op<Drafted> {
	const job = yield* mustFind(tx, id);
	refuseStarted(job);
	checkFields(set, unset);
	const spec = (yield* tx.specs([id])).get(id) ?? { version: 1, enqueued_at: job.created_at };
	const edges = (yield* edgesOf(job)).map(({ pred, policy }) => ({ job: pred, policy }));
	const parent = job.path?.[job.path.length - 1];
	const before = inputOf({ job, spec, after: edges, parent }, tx.config);
	const wanted = { ...kept(before, set, tx), ...set, ...(payload_json === undefined ? {} : { payload: new JsonText(payload_json) }) };
	for (const key of unset) if (isOneOf(key, INPUT_KEYS)) delete wanted[key];
	refuseFixed(before, wanted);
	const force = ![...Object.keys(set), ...unset].some((key) => isOneOf(key, IMPOSSIBLE));
	const known = agents && [...agents, ...(job.agent === undefined ? [] : [job.agent])];
	const draft = draftJob(wanted, tx.config, { now: tx.now, force, agents: known, flows: [job.lane] });
	const names = namesIn(draft);
	if (names.length > 0) putNumbersInto(draft, yield* numberNames(tx, names));
	yield* checkPlace(tx, draft.job, force, (key) => key);
	const after = yield* resolveAfter(tx, draft.after);
	if (parent !== undefined && draft.parent_gate && !after.some((edge) => edge.job === parent))
		after.push({ job: parent, policy: "success" });
	refuseUnmergeable(tx, yield* predecessors(tx, after));
	if (spec.applied !== undefined) draft.spec.applied = spec.applied;
	return { job, spec, draft, after, before, now: inputOf({ job: draft.job, spec: draft.spec, after, parent }, tx.config) };
}

function refuseStarted({ id, status, kind }: Job): void {
	if (isWaiting(status) && queuePolicy(kind).isListed) return;
	throw new SluiceError("illegal_transition", `job ${id} is ${status}: only a waiting job can be edited`, {
		field: "id",
		hint:
			status === "running"
				? `sluice cancel ${id} ends it; what its next run should do: sluice cancel ${id}, then sluice add`
				: `sluice rerun ${id} runs it once more as it was`,
	});
}

function checkFields(set: JobInput, unset: readonly string[]): void {
	check.knownKeys(check.record(set, "set"), INPUT_KEYS, "");
	for (const key of unset) check.oneOf(key, INPUT_KEYS, "unset");
	const both = unset.find((key) => Object.hasOwn(set, key));
	if (both !== undefined) throw check.wrong("unset", `names ${both}, which is also set`, "leave one out");
}

function refuseFixed(before: JobInput, wanted: JobInput): void {
	for (const key of changedFields(before, wanted)) {
		const why = FIXED[key];
		if (why !== undefined) throw check.wrong(key, `cannot be changed: ${why}`, "cancel the job and add another one");
	}
}

/** A command replaces an agent, and an agent a command. What a repo's default said of merging does not go with the job to another repo. */
function kept(before: JobInput, set: JobInput, { config }: Tx): JobInput {
	const rest = { ...before };
	const isAgent = set.agent !== undefined;
	if (set.command !== undefined && !isAgent) for (const key of keysMarked("agent")) delete rest[key];
	if (isAgent && set.command === undefined) delete rest.command;
	const usual = before.repo === undefined ? undefined : config.repos[before.repo]?.merge;
	if (set.repo !== undefined && usual === "none") delete rest.no_merge;
	if (set.repo !== undefined && usual === "local") delete rest.merge;
	return rest;
}

/** The fields that it returns lack the payload, which may be no JSON: it is in the spec. */
export function* editJob(tx: Tx, edit: Edit): Op<EditResult> {
	if (edit.seen) yield* learn(tx, edit.seen);
	const found = yield* drafted(tx, edit);
	const { job, draft, spec } = found;
	const changed = changedFields(found.before, found.now);
	if (changed.length > 0 && changed.every((key) => FOR_ITS_HOST.includes(key)) && draft.job.kind === job.kind) {
		tx.putSpec(job.id, { ...draft.spec, enqueued_at: spec.enqueued_at });
		tx.touch(job);
		tx.event("edited", job.id, { fields: changed });
	} else if (changed.length > 0) yield* changeAll(tx, found, changed);
	const { payload: _payload, ...fields } = changed.length > 0 ? found.now : found.before;
	return { job: yield* viewJob(tx, job), changed, fields };
}

function* changeAll(tx: Tx, { job, draft, after, spec, now }: Drafted, changed: readonly JobKey[]): Op<void> {
	const { id } = job;
	const node = { draft, job: id, field: "", leads: false, after, needs: draft.job.needs };
	yield* refuseCircle(new Map([[id, after.map((edge) => edge.job)]]), [node]);
	if (changed.includes("unique")) yield* changeUnique(tx, id, draft, spec);
	if (changed.includes("name")) yield* rename(tx, job, draft.job.name);
	const place = {
		ready_at: job.ready_at,
		backoff_until: job.backoff_until,
		timely: changed.includes("runnable_at") ? undefined : job.timely,
	};
	yield* change(tx, node);
	Object.assign(job, place);
	if (!now.hold) job.hold = undefined;
	else job.hold ??= { by: tx.by, since: tx.now };
	tx.event("edited", id, { fields: [...changed] });
	yield* reevaluate(tx, job, yield* recount(tx, job));
	tx.stirred = true;
}

/** The key that the job had is free again; a key that another open job has is refused. */
function* changeUnique(tx: Tx, id: number, draft: Draft, spec: JobSpec): Op<void> {
	const before = spec.unique?.key;
	if (before !== undefined && (yield* tx.get("unique", before))?.job === id) tx.put("unique", before, null);
	if (draft.unique) yield* findTwin(tx, { ...draft, unique: { ...draft.unique, policy: "error" } });
}

function* rename(tx: Tx, job: Job, name: string | undefined): Op<void> {
	if (name !== undefined) yield* refuseTaken(tx, name, "name");
	yield* dropName(tx, job);
	job.name = name;
	job.older_name = undefined;
	yield* takeName(tx, job);
}
