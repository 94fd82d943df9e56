// What a manifest says, job by job, checked before the store is asked: drafts in an order in which they can go in. All mistakes are told at once.

import type { Deferred } from "../adding.ts";
import { withoutPlaces } from "../core/after-result.ts";
import * as check from "../core/check.ts";
import type { Config } from "../core/config.ts";
import { digest } from "../core/digest.ts";
import { SluiceError } from "../core/errors.ts";
import { artifactKey, nameOfArtifact } from "../core/fact.ts";
import { Faults, faultsOf } from "../core/faults.ts";
import { type Sorted, sortGraph } from "../core/graph.ts";
import { type Draft, type DraftOptions, draftJob } from "../core/input.ts";
import type { JobInput, Policy, Status } from "../core/job.ts";
import { expandJobs } from "../core/manifest.ts";
import type { Manifest } from "../scheduler.ts";

export const MAX_MANIFEST = 1_000_000;
/** Up to here an apply is one transaction; also the size of a piece, unless the scheduler was opened with another. */
export const PIECE = 300;

/** One job of the manifest on its way in. `job` is its number once it has one, or the existing job it stands for. */
export type Node = {
	draft: Draft;
	index: number;
	field: string;
	job: number;
	skip?: string;
	/** The job of the same manifest that has its unique key already. */
	alias?: Node;
	/** A waiting job that this one replaces, by its unique key. */
	twin?: number;
	/** The job that has its name, and whether the manifest says of it what was said then. */
	known?: { job: number; status: Status; same: boolean };
	/** That job is waiting, and is changed to what this one says. */
	updates?: true;
	leads: boolean;
	/** The first job of the manifest with the same item: they are one chain, also when one has ended before the other goes in. */
	chain?: number;
	after: { node?: Node; job?: number; policy: Policy }[];
	/** Jobs of this manifest whose `job:` or `patch:` it needs, by name. */
	mates: Map<string, Node>;
};
export type Prepared = {
	/** Predecessors stand before the jobs that wait for them, and producers too, unless producers form a circle. */
	nodes: Node[];
	circular: boolean;
	byName: Map<string, Node>;
	byUnique: Map<string, Node>;
	coming: Map<number, number>;
	batch: string | undefined;
	/** Items that the hard limit lets in, as far as they were looked at; `full` once it has kept one out. */
	admitted: Set<string>;
	full?: Deferred;
};
/** `names`: which jobs that `after` names outside of the manifest there are. Only for a manifest with mistakes, so that all of them are told at once. */
export type PrepareOptions = Omit<DraftOptions, "field"> & {
	env?: Record<string, string> | undefined;
	names?: OutsideNames | undefined;
};
/** `asked`: filled by `prepare`. `known`: those of them that a job has, once they were looked up. */
export type OutsideNames = { asked: Set<string>; known?: ReadonlySet<string> };

function knownPart(key: string): void {
	if (key === "lanes")
		throw new SluiceError("unknown_key", "lanes: a manifest has no lanes", {
			field: "lanes",
			hint: "lanes belong to the configuration: sluice lane set NAME --max N makes one",
		});
	check.knownKeys({ [key]: undefined }, ["defaults", "jobs", "batch"], "");
}

/** Checks each job for itself; yields now and then so that the caller can let others go first. */
export function* prepare(manifest: Manifest, config: Config, options: PrepareOptions): Generator<void, Prepared, void> {
	const faults = new Faults();
	const { inputs, defaults, batch } = check.taking("manifest", () => {
		const given = check.record(manifest, "manifest") as Manifest;
		for (const key of Object.keys(given)) faults.try(() => knownPart(key));
		// Without jobs there is nothing more to look at, and the wrong key may be what they stand under.
		if (given.jobs === undefined) faults.throwIfAny();
		return {
			inputs: check.list(given.jobs, "jobs", MAX_MANIFEST),
			defaults:
				given.defaults === undefined ? undefined : check.taking("defaults", () => ({ ...check.record(given.defaults, "defaults") })),
			batch: given.batch === undefined ? undefined : check.label(given.batch, "batch"),
		};
	});
	const inDefaults = defaults ? [...defaultFaults(defaults, config, options)] : [];
	for (const fault of inDefaults) faults.keep(fault);
	const wrongDefaults = inDefaults.length > 0;
	const nodes: Node[] = [];
	const byName = new Map<string, Node>();
	const names = new Set<string>();
	const expanded = yield* expandJobs(inputs, (error) => void faults.keep(error));
	for (const [index, { job: input, from }] of expanded.entries()) {
		if (index % 200 === 199) yield;
		const field = `jobs[${from}]`;
		const drafted = draftNode(input, { field, index, batch, defaults: wrongDefaults ? undefined : defaults, config, options });
		const name = "draft" in drafted ? drafted.draft.job.name : nameIn(input);
		if (name !== undefined && names.has(name))
			faults.keep(
				new SluiceError("conflict", `${field}.name: "${name}" stands twice in the manifest`, {
					field: `${field}.name`,
					hint: "give each job a name of its own",
				}),
			);
		if (name !== undefined) names.add(name);
		if (!("draft" in drafted)) {
			// What is wrong in the defaults has been told once, and may be what a job lacks.
			for (const fault of drafted.faults) if (!wrongDefaults || !isMissing(fault, input)) faults.keep(fault);
			continue;
		}
		nodes.push(drafted);
		if (name !== undefined) byName.set(name, drafted);
	}
	for (const [index, node] of nodes.entries()) {
		if (index % 2000 === 1999) yield;
		for (const [at, { ref }] of node.draft.after.entries()) {
			if (typeof ref !== "string" || names.has(ref)) continue;
			options.names?.asked.add(ref);
			if (options.names?.known && !options.names.known.has(ref)) faults.keep(noSuchJob(`${node.field}.after[${at}]`, ref));
		}
		for (const { ref, policy } of node.draft.after) {
			const edge = faults.try(() => link(node, ref, policy, byName));
			if (edge) node.after.push(edge);
		}
		for (const artifact of node.draft.job.needs ?? []) {
			const mate = byName.get(nameOfArtifact(artifact) ?? "");
			if (mate && mate !== node) node.mates.set(artifact, mate);
		}
	}
	const sorted: Sorted<Node> = yield* sortGraph(nodes, (node) => node.after.flatMap((edge) => edge.node ?? []));
	if ("cycle" in sorted) {
		const names = sorted.cycle.map((node) => node.draft.job.name ?? node.field);
		const path = names.length > 20 ? [...names.slice(0, 18), "…", names[names.length - 1]] : names;
		faults.keep(
			new SluiceError("cycle", `after: ${path.join(" → ")} is a cycle`, {
				field: `${(sorted.cycle[0] as Node).field}.after`,
				hint: "take one of these edges out",
			}),
		);
	}
	faults.throwIfAny();
	const order = "order" in sorted ? sorted.order : [];
	const ordered = yield* producersFirst(order);
	return {
		nodes: ordered ?? order,
		circular: ordered === null,
		byName,
		byUnique: new Map(),
		coming: new Map(),
		batch,
		admitted: new Set(),
	};
}

/** What a job with a mistake is called, as far as that can be told: the library may be handed an object whose getters throw. */
function nameIn(input: unknown): string | undefined {
	try {
		const { name } = (typeof input === "object" && input !== null ? input : {}) as { name?: unknown };
		return typeof name === "string" ? name : undefined;
	} catch {
		return undefined;
	}
}

export const noSuchJob = (field: string, ref: number | string | undefined): SluiceError =>
	new SluiceError("not_found", `${field}: there is no job ${check.shown(ref)}`, {
		field,
		hint: "name a job of this manifest, or one that exists",
	});

type Setting = {
	field: string;
	index: number;
	batch: string | undefined;
	defaults: Record<string, unknown> | undefined;
	config: Config;
	options: PrepareOptions;
};

/** Its draft, or all that is wrong with it. */
function draftNode(input: unknown, { field, index, batch, defaults, config, options }: Setting): Node | { faults: SluiceError[] } {
	const merged = (): JobInput => {
		const own = check.record(input, field);
		return { ...(batch === undefined ? {} : { batch }), ...defaultsFor(own, defaults), ...own } as JobInput;
	};
	const { env, names: _names, ...plain } = options;
	const read = (given: JobInput): Draft =>
		draftJob(
			check.taking(field, () => withEnv(given, env)),
			config,
			{ ...plain, field },
		);
	try {
		const given = check.taking(field, merged);
		const draft = read(given);
		if (draft.job.name !== undefined) draft.spec.applied = digest(given);
		return { draft, index, field, job: 0, leads: false, after: [], mates: new Map() };
	} catch (error) {
		if (!(error instanceof SluiceError)) throw error;
		if (error.field === field || error.field === undefined) return { faults: [error] };
		return { faults: faultsOf({ ...merged() }, field, (given) => void read(given as JobInput), STAND_IN) };
	}
}

/** So that a job whose command is wrong is read to its end. */
const STAND_IN = { command: ["true"], prompt: "" };

/** The caller's variables, below those that the manifest sets. */
const withEnv = (given: JobInput, env: Record<string, string> | undefined): JobInput =>
	env === undefined || (given.env !== undefined && (given.env === null || typeof given.env !== "object"))
		? given
		: { ...given, env: { ...env, ...given.env } };

/** Told of a key that the job does not have. */
const isMissing = ({ field }: SluiceError, input: unknown): boolean =>
	input !== null && typeof input === "object" && !Object.hasOwn(input, /\.([^.[]+)/.exec(field ?? "")?.[1] ?? "");

/** A consumer is decided when it goes in: what produces for it must be there by then. Null when they go in a circle. */
function* producersFirst(nodes: Node[]): Generator<void, Node[] | null, void> {
	const makers = new Map<string, Node[]>();
	for (const node of nodes)
		for (const artifact of node.draft.job.produces ?? []) {
			const key = artifactKey(artifact, node.draft.job.repo);
			makers.set(key, [...(makers.get(key) ?? []), node]);
		}
	if (makers.size === 0 && nodes.every(({ mates }) => mates.size === 0)) return nodes;
	const before = (node: Node) => [
		...node.after.flatMap((edge) => edge.node ?? []),
		...node.mates.values(),
		...(node.draft.job.needs ?? [])
			.flatMap((artifact) => makers.get(artifactKey(artifact, node.draft.job.repo)) ?? [])
			.filter((maker) => maker !== node),
	];
	const sorted: Sorted<Node> = yield* sortGraph(nodes, before);
	return "order" in sorted ? sorted.order : null;
}

const FOR_AGENTS = ["agent", "prompt", "model", "permission", "allow", "expect"];

/** A job that says itself what it runs takes nothing over about that: a command among agents, an agent among commands. */
function defaultsFor(own: Record<string, unknown>, defaults: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
	if (defaults === undefined) return undefined;
	if (own.command !== undefined && own.agent === undefined && defaults.agent !== undefined) {
		return Object.fromEntries(Object.entries(defaults).filter(([key]) => !FOR_AGENTS.includes(key)));
	}
	if (own.agent !== undefined && own.command === undefined && defaults.command !== undefined) {
		const { command: _, ...rest } = defaults;
		return rest;
	}
	return defaults;
}

/** Faults of the defaults are said to be there. They need not be a job by themselves: what is missing is filled in for the check. */
function defaultFaults(
	defaults: Record<string, unknown>,
	config: Config,
	{ env: _env, names: _names, ...options }: PrepareOptions,
): SluiceError[] {
	return faultsOf(defaults, "defaults", (given) => {
		const filled: Record<string, unknown> = { prompt: "", ...given };
		// Which results may be asked for hangs on what each job comes after.
		if (typeof filled.prompt === "string") filled.prompt = withoutPlaces(filled.prompt);
		if (filled.command === undefined && filled.agent === undefined && filled.payload === undefined) filled.payload = null;
		draftJob(filled, config, { ...options, field: "defaults" });
	});
}

function link(node: Node, ref: number | string, policy: Policy, byName: Map<string, Node>): Node["after"][number] {
	const found = typeof ref === "string" ? byName.get(ref) : undefined;
	if (!found) return typeof ref === "number" ? { job: ref, policy } : { policy, job: Number.NaN };
	found.leads = true;
	if (policy === "merged" && !found.draft.job.will_merge)
		throw new SluiceError("impossible", `${node.field}.after: "${ref}" will not merge, so nothing can wait for its merge`, {
			field: `${node.field}.after`,
			hint: "use the policy success, or give that job a repo",
		});
	return { node: found, policy };
}

/** Names of jobs outside of the manifest that stand where only numbers count: `parent`, and `job:` or `patch:` among what is needed. */
export function outsideNames({ nodes, byName }: Prepared): { name: string; field: string }[] {
	const found: { name: string; field: string }[] = [];
	for (const { draft, field } of nodes)
		if (draft.job.needs || draft.parent !== undefined)
			for (const one of namesIn(draft))
				if (one.field !== "needs" || !byName.has(one.name)) found.push({ ...one, field: `${field}.${one.field}` });
	return found;
}

export function namesIn({ parent, job }: Draft): { name: string; field: string }[] {
	if (job.needs === undefined && typeof parent !== "string") return NONE;
	const needed = (job.needs ?? []).flatMap((artifact) => nameOfArtifact(artifact) ?? []).map((name) => ({ name, field: "needs" }));
	return typeof parent === "string" ? [{ name: parent, field: "parent" }, ...needed] : needed;
}
const NONE: never[] = [];

export function putNumbers({ nodes }: Prepared, numbers: ReadonlyMap<string, number>): void {
	if (numbers.size > 0) for (const { draft } of nodes) putNumbersInto(draft, numbers);
}

export function putNumbersInto(draft: Draft, numbers: ReadonlyMap<string, number>): void {
	if (typeof draft.parent === "string") draft.parent = numbers.get(draft.parent) ?? draft.parent;
	draft.job.needs = draft.job.needs?.map((artifact) => {
		const number = numbers.get(nameOfArtifact(artifact) ?? "");
		return number === undefined ? artifact : `${artifact.slice(0, artifact.indexOf(":"))}:${number}`;
	});
}
