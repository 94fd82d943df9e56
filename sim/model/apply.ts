// `apply`: many jobs in one transaction, all or nothing; those that are there already are skipped.

import type { ApplyResult, Manifest } from "../../src/contracts/scheduler.ts";
import type { JobInput } from "../../src/core/job.ts";
import { duplicateOf, edgesOf, enter, makeJob } from "./add.ts";
import { accepted, agree, agreeSame, refused, type Seen } from "./agree.ts";
import { settle } from "./settle.ts";
import { copyState, find, isActive, type ModelJob, named, type State } from "./state.ts";
import { faultsOf, itemKey } from "./validate.ts";

const nameOf = (one: number | string | { job: number | string }) => (typeof one === "object" ? one.job : one);

/** Does the manifest bite its own tail? */
export function hasCycle(jobs: JobInput[]): boolean {
	const visit = (name: string, path: string[]): boolean => {
		if (path.includes(name)) return true;
		const job = jobs.find((one) => one.name === name);
		return (job?.after ?? []).some((edge) => {
			const to = nameOf(edge);
			return typeof to === "string" && visit(to, [...path, name]);
		});
	};
	return jobs.some((job) => job.name !== undefined && visit(job.name, []));
}

type Options = { force?: boolean; again?: boolean };

/** What becomes of a manifest whose names jobs have already; undefined: all of it is added. */
function repeated(state: State, inputs: JobInput[], { again }: Options): "nothing" | "refused" | undefined {
	const known = inputs.map((input) => (input.name === undefined ? undefined : named(state, input.name)));
	if (known.every((job) => job === undefined)) return undefined;
	const isSame = (job: ModelJob | undefined, index: number) => job?.said === JSON.stringify(inputs[index]);
	if (known.some((job) => job !== undefined && isActive(job)))
		return !again && known.every((job, index) => job !== undefined && (!isActive(job) || isSame(job, index))) ? "nothing" : "refused";
	if (again) return undefined;
	return known.every((job) => job !== undefined) || known.some(isSame) ? "refused" : undefined;
}

export function apply(state: State, manifest: Manifest, options: Options, seen: Seen): void {
	const inputs = manifest.jobs.map((job) => ({
		...manifest.defaults,
		...(manifest.batch === undefined ? {} : { batch: manifest.batch }),
		...job,
	}));
	const cyclic = hasCycle(inputs);
	const said = (seen.result as ApplyResult | undefined)?.skipped ?? [];
	const before = copyState({ ...state, facts: {}, past: [] });
	const skipped: { name: string; job: number }[] = [];
	const names: Record<string, number> = {};
	const ids = [...seen.fresh];
	const made: number[] = [];
	const problems: { codes: Parameters<typeof refused>[1]; why: string }[] = [];
	if (cyclic) problems.push({ codes: ["cycle"], why: "the manifest has a cycle" });
	const again = repeated(before, inputs, options);
	if (again === "refused") problems.push({ codes: ["conflict"], why: "its names are known, and it is open, changed or ended" });
	const isThere = (input: JobInput) =>
		again === "nothing" && input.name !== undefined ? named(before, input.name)?.id : isTaken(before, input, said);
	// Predecessors first: an edge by name may point forward in the file.
	const order = inOrder(inputs);
	const idFor = new Map(inputs.filter((input) => !isThere(input)).map((input, index) => [input, ids[index] ?? -1000 - index]));
	for (const input of inputs) {
		const there = isThere(input);
		const id = there ?? idFor.get(input);
		if (input.name !== undefined && id !== undefined) names[input.name] = id;
		if (there !== undefined) skipped.push({ name: input.name ?? "", job: there });
	}
	const spare: typeof problems = [];
	for (const input of order) {
		const id = idFor.get(input);
		const edges = edgesOf(state, input, names);
		const faults = faultsOf(state, input, edges, { force: options.force === true, within: "apply" });
		// One that is skipped may be found wrong all the same.
		if (id === undefined) spare.push(...faults);
		else problems.push(...faults);
		if (id === undefined) continue;
		const job = { ...makeJob(state, id, input, edges, options), said: JSON.stringify(input) };
		const mate = job.item === undefined ? undefined : state.jobs.find((other) => made.includes(other.id) && other.item === job.item);
		if (mate !== undefined) job.chain = mate.chain;
		state.jobs.push(job);
		made.push(id);
	}
	if (seen.error !== undefined) problems.push(...spare);
	// Several mistakes of different kinds are told together.
	if (problems.length > 1) problems.push({ codes: ["invalid"], why: "several mistakes" });
	if (seen.error !== undefined || problems.length > 0) {
		state.jobs = state.jobs.filter((job) => !made.includes(job.id));
		refused(
			seen,
			problems.flatMap((problem) => problem.codes),
			problems.map((problem) => problem.why).join("; ") || "nothing is wrong with the manifest",
		);
		return;
	}
	const result = accepted<ApplyResult>(seen);
	agreeSame(ids.length, made.length, "jobs stored by apply");
	// They came in by predecessor; the rest of the model wants them by id.
	const fresh = state.jobs.splice(before.jobs.length).sort((a, b) => a.id - b.id);
	for (const job of fresh) enter(state, job);
	settle(state, seen);
	if (result === undefined) return;
	agreeSame(
		[...result.jobs].sort((a, b) => a - b),
		[...ids].sort((a, b) => a - b),
		"apply: ids of the new jobs",
	);
	for (const [name, id] of Object.entries(result.names)) agreeSame(id, names[name], `apply: the job named ${name}`);
	agreeSame(result.skipped.map((one) => one.job).sort(), skipped.map((one) => one.job).sort(), "apply: skipped jobs");
	for (const id of made) agree(find(state, id) !== undefined, `job ${id} is gone`);
}

/** Already in the queue, by open chain or unique key. */
function isTaken(state: State, input: JobInput, said: ApplyResult["skipped"]): number | undefined {
	const open = input.item === undefined ? [] : state.jobs.filter((job) => isActive(job) && job.item === itemKey(input));
	// Where several jobs of the chain are open, any of them stands for it.
	const told = said.find((one) => one.name === input.name)?.job;
	return (open.find((job) => job.id === told) ?? open[0] ?? duplicateOf(state, input))?.id;
}

function inOrder(inputs: JobInput[]): JobInput[] {
	const done: JobInput[] = [];
	const seen = new Set<JobInput>();
	const byName = new Map(inputs.map((input) => [input.name, input]));
	const visit = (input: JobInput) => {
		if (seen.has(input)) return;
		seen.add(input);
		for (const edge of input.after ?? []) {
			const name = nameOf(edge);
			const before = typeof name === "string" ? byName.get(name) : undefined;
			if (before !== undefined) visit(before);
		}
		done.push(input);
	};
	for (const input of inputs) visit(input);
	return done;
}
