// What `add` refuses, in the spec's words; each refusal with the codes that name it rightly.

import type { ErrorCode } from "../../src/core/errors.ts";
import type { JobInput, Policy } from "../../src/core/job.ts";
import { fits } from "./gates/late.ts";
import { find, isActive, type ModelJob, named, type State } from "./state.ts";

export type Fresh = Pick<ModelJob, "name" | "path" | "will_merge">;
export type Edge = { job: number; policy: Policy };

/** Why this input is refused; empty when it is fine. `mates`: jobs of the same manifest, by name. */
export function faultsOf(
	state: State,
	input: JobInput,
	edges: Edge[],
	options: { force: boolean; within: "add" | "apply" },
): { codes: ErrorCode[]; why: string }[] {
	const { config, now } = state;
	const list: { codes: ErrorCode[]; why: string }[] = [];
	const no = (codes: ErrorCode[], why: string) => list.push({ codes, why });
	const lane = input.lane ?? defaultLane(state);
	if (lane === undefined || (config.lanes[lane] === undefined && lane !== "default"))
		no(["not_found", "invalid"], `lane ${lane} does not exist`);
	else if (config.lanes[lane]?.max === 0 && !options.force) no(["impossible"], `lane ${lane} has cap 0`);
	if (input.repo !== undefined && config.repos[input.repo] === undefined) no(["not_found"], `repo ${input.repo} does not exist`);
	if (input.repo !== undefined && config.repos[input.repo]?.max === 0 && !options.force) no(["impossible"], `repo ${input.repo} has cap 0`);
	if (input.agent !== undefined && config.agents.length > 0 && !config.agents.includes(input.agent))
		no(["not_found"], `agent ${input.agent} does not exist`);
	if (new Set(edges.map((edge) => edge.job)).size < edges.length) no(["invalid"], "after names a job twice");
	for (const edge of edges) {
		const before = find(state, edge.job);
		if (before === undefined) no(["not_found"], `after: no job ${edge.job}`);
		else if (edge.policy === "merged" && !before.will_merge)
			no(["invalid", "impossible", "forbidden", "conflict"], `job ${edge.job} will not merge`);
	}
	if (input.parent !== undefined)
		parentFaults(state, typeof input.parent === "string" ? (named(state, input.parent)?.id ?? -1) : input.parent, no);
	if (input.name !== undefined && options.within === "add" && state.jobs.some((job) => job.name === input.name && isActive(job)))
		no(["conflict"], `name ${input.name} is taken`);
	const at = Number(input.runnable_at ?? now);
	if (typeof input.deadline === "number" && input.deadline < at) no(["invalid"], "deadline before runnable_at");
	const labels = input.host_labels ?? [];
	// Without labels an outside worker can take a payload wherever it belongs. One that asks for nothing can go to whatever host there will be.
	const isForHosts = labels.length > 0 || (input.repo !== undefined && (input.command !== undefined || input.agent !== undefined));
	const able = { ...(input.repo === undefined ? {} : { repo: input.repo }), host_labels: labels } as ModelJob;
	if (isForHosts && !options.force && !state.hosts.some((host) => fits(host, able)))
		no(["impossible"], "no host has these labels and this repo");
	for (const artifact of input.needs ?? []) {
		const [kind, id] = artifact.split(":");
		if ((kind === "job" || kind === "patch") && find(state, Number(id)) === undefined) no(["not_found"], `needs: no job ${id}`);
	}
	for (const [name, amount] of Object.entries(input.uses ?? {})) {
		const limit = config.resources[name];
		if (limit !== undefined && amount > limit && !options.force) no(["impossible"], `uses ${amount} of ${name}, there are ${limit}`);
	}
	itemFaults(state, input, options.force, no);
	return list;
}

/** The lane of a job that names none. */
export const defaultLane = (state: State): string | undefined =>
	state.config.lanes.default !== undefined ? "default" : Object.keys(state.config.lanes)[0];

function parentFaults(state: State, parent: number, no: (codes: ErrorCode[], why: string) => void): void {
	const { max_depth, max_descendants } = state.config.parents;
	const job = find(state, parent);
	if (job === undefined) {
		no(["not_found"], `no parent ${parent}`);
		return;
	}
	if (job.path.length + 1 > max_depth) no(["limit"], `deeper than ${max_depth}`);
	const root = job.path[0] ?? job.id;
	// Those of the same manifest are on their way in.
	const coming = state.jobs.filter((other) => other.path[0] === root && (other.id > state.last_id || other.id < 0)).length;
	const descendants = (state.families[root] ?? 0) + coming;
	if (descendants + 1 > max_descendants) no(["limit"], `more than ${max_descendants} descendants of ${root}`);
}

function itemFaults(state: State, input: JobInput, force: boolean, no: (codes: ErrorCode[], why: string) => void): void {
	if (input.item === undefined) return;
	const prefix = input.repo === undefined ? null : (state.config.repos[input.repo]?.prefix ?? null);
	if (prefix !== null && !input.item.startsWith(prefix) && !force) no(["forbidden"], `item ${input.item} does not fit prefix ${prefix}`);
	const fact = state.facts[`item:${itemKey(input)}`];
	if (fact === undefined || fact === null || typeof fact !== "object" || "error" in fact) return;
	if (!fact.open) no(["forbidden"], `item ${input.item} is closed`);
	else if (fact.in_progress && !force && !state.jobs.some((job) => job.item === itemKey(input) && isActive(job)))
		no(["forbidden"], `item ${input.item} is in progress elsewhere`);
}

export const itemKey = (input: JobInput): string => `${input.source ?? "inline"}:${input.item}`;
