// Checks a manifest, job by job, before the store is read, and returns drafts in an order in which they can be added. Reports all errors at once.

import type { Deferred } from "../../contracts/adding.ts";
import type { Manifest } from "../../contracts/scheduler.ts";
import type { Config } from "../../core/config.ts";
import { nth, SluiceError } from "../../core/errors.ts";
import { artifactKey, nameOfArtifact } from "../../core/fact.ts";
import { type Sorted, sortGraph } from "../../core/graph/graph.ts";
import * as check from "../../core/input/check.ts";
import { type Draft, type DraftOptions, draftJob } from "../../core/input/job.ts";
import { expandJobs } from "../../core/input/manifest.ts";
import { Faults, faultsOf } from "../../core/input/mistakes.ts";
import type { JobInput, Policy, Status } from "../../core/job.ts";
import { withoutPlaces } from "../../core/recipes/after-result.ts";
import { keysMarked } from "../../core/schema/job.ts";
import { digest } from "../../core/text/digest.ts";
import { refuseForce } from "../../core/trust/run-bounds.ts";
import { namesIn, putNumbersInto } from "../operations/names.ts";

const MAX_MANIFEST = 1_000_000;

/** One job of a manifest that is being added. `job` is its number once it has one, or the existing job it stands for. */
export type ManifestNode = {
	draft: Draft;
	index: number;
	field: string;
	job: number;
	skip?: string;
	/** The job of the same manifest that has the same unique key. */
	alias?: ManifestNode;
	/** A waiting job with the same unique key, which this one replaces. */
	twin?: number;
	/** The existing job that has its name; `same`: the manifest describes it as it did when the job was added. */
	known?: { job: number; status: Status; same: boolean };
	/** The existing job is waiting, and is changed to what this node says. */
	updates?: true;
	leads: boolean;
	/** The first job of the manifest with the same item: jobs of one item are one chain, even when one has ended before the next is stored. */
	chain?: number;
	after: { node?: ManifestNode; job?: number; policy: Policy }[];
	/** Jobs of this manifest whose `job:` or `patch:` artifact it needs, by artifact. */
	mates: Map<string, ManifestNode>;
};
export type PreparedManifest = {
	/** Predecessors come before the jobs that wait for them, and so do producers, unless producers form a circle. */
	nodes: ManifestNode[];
	circular: boolean;
	byName: Map<string, ManifestNode>;
	byUnique: Map<string, ManifestNode>;
	coming: Map<number, number>;
	batch: string | undefined;
	/** Items that the hard limit has admitted so far; `full` is set once it has kept one out. */
	admitted: Set<string>;
	full?: Deferred;
};
/**
 * `names`: which of the names in `after` that are not in the manifest exist as jobs. Given only for a manifest with errors, so that all errors are reported at
 * once.
 */
export type PrepareOptions = Omit<DraftOptions, "field"> & {
	env?: Record<string, string> | undefined;
	names?: OutsideNames | undefined;
};
/** `asked`: filled by `prepare`. `known`: the names of these that a job has, once they were looked up. */
type OutsideNames = { asked: Set<string>; known?: ReadonlySet<string> };

function knownPart(key: string): void {
	if (key === "lanes")
		throw new SluiceError("unknown_key", "lanes: a manifest has no lanes", {
			field: "lanes",
			hint: "lanes belong to the configuration: sluice lane set NAME --max N makes one",
		});
	check.knownKeys({ [key]: undefined }, ["defaults", "jobs", "batch"], "");
}

/** Checks each job on its own. Yields now and then, so that the caller can give other work a turn of the event loop. */
export function* prepare(manifest: Manifest, config: Config, options: PrepareOptions): Generator<void, PreparedManifest, void> {
	if (options.within && options.force) throw refuseForce(options.within);
	const faults = new Faults();
	const { inputs, defaults, batch } = check.taking("manifest", () => readParts(manifest, faults));
	const inDefaults = defaults ? [...defaultFaults(defaults, config, options)] : [];
	for (const fault of inDefaults) faults.keep(fault);
	const wrongDefaults = inDefaults.length > 0;
	const nodes: ManifestNode[] = [];
	const byName = new Map<string, ManifestNode>();
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
			// Errors in the defaults were reported once, and may be the reason why a job lacks a field.
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
		linkNode(node, byName, faults);
	}
	const sorted: Sorted<ManifestNode> = yield* sortGraph(nodes, (node) => node.after.flatMap((edge) => edge.node ?? []));
	if ("cycle" in sorted) faults.keep(cycleFault(sorted.cycle));
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

/** The parts of a manifest. Without jobs there is nothing more to check, and an unknown key may be a misspelled `jobs`. */
function readParts(manifest: Manifest, faults: Faults) {
	const given = check.record(manifest, "manifest") as Manifest;
	for (const key of Object.keys(given)) faults.try(() => knownPart(key));
	if (given.jobs === undefined) faults.throwIfAny();
	return {
		inputs: check.list(given.jobs, "jobs", MAX_MANIFEST),
		defaults: given.defaults === undefined ? undefined : check.taking("defaults", () => ({ ...check.record(given.defaults, "defaults") })),
		batch: given.batch === undefined ? undefined : check.label(given.batch, "batch"),
	};
}

/** Connects a node to the jobs of the manifest that it waits for or needs something of. */
function linkNode(node: ManifestNode, byName: Map<string, ManifestNode>, faults: Faults): void {
	for (const { ref, policy } of node.draft.after) {
		const edge = faults.try(() => link(node, ref, policy, byName));
		if (edge) node.after.push(edge);
	}
	for (const artifact of node.draft.job.needs ?? []) {
		const mate = byName.get(nameOfArtifact(artifact) ?? "");
		if (mate && mate !== node) node.mates.set(artifact, mate);
	}
}

function cycleFault(cycle: readonly ManifestNode[]): SluiceError {
	const names = cycle.map((node) => node.draft.job.name ?? node.field);
	const path = names.length > 20 ? [...names.slice(0, 18), "…", names[names.length - 1]] : names;
	return new SluiceError("cycle", `after: ${path.join(" → ")} is a cycle`, {
		field: `${nth(cycle, 0).field}.after`,
		hint: "take one of these edges out",
	});
}

/** The name of a job that has an error, if it can be read: a caller of the library may pass an object whose getters throw. */
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

/** Returns the draft of a job, or all its errors. */
function draftNode(input: unknown, { field, index, batch, defaults, config, options }: Setting): ManifestNode | { faults: SluiceError[] } {
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
		const isBound = options.within !== undefined && error.code === "forbidden";
		if (error.field === field || error.field === undefined || isBound) return { faults: [error] };
		return { faults: faultsOf({ ...merged() }, field, (given) => void read(given as JobInput), STAND_IN) };
	}
}

/** Stands in for a wrong command or prompt, so that the job's other fields are still checked. */
const STAND_IN = { command: ["true"], prompt: "" };

/** Adds the caller's environment variables; those that the manifest sets win. */
const withEnv = (given: JobInput, env: Record<string, string> | undefined): JobInput =>
	env === undefined || (given.env !== undefined && (given.env === null || typeof given.env !== "object"))
		? given
		: { ...given, env: { ...env, ...given.env } };

/** Whether the error is about a field that the job itself does not have. */
const isMissing = ({ field }: SluiceError, input: unknown): boolean =>
	input !== null && typeof input === "object" && !Object.hasOwn(input, /\.([^.[]+)/.exec(field ?? "")?.[1] ?? "");

/** Orders the nodes so that producers come first, because a consumer is decided when it is stored. Null when they form a circle. */
function* producersFirst(nodes: ManifestNode[]): Generator<void, ManifestNode[] | null, void> {
	const makers = new Map<string, Artifact>();
	for (const node of nodes)
		for (const artifact of node.draft.job.produces ?? []) {
			const key = artifactKey(artifact, node.draft.job.repo);
			const others = makers.get(key);
			if (others) others.makers.add(node);
			else makers.set(key, { makers: new Set([node]) });
		}
	if (makers.size === 0 && nodes.every(({ mates }) => mates.size === 0)) return nodes;
	// The artifact is a node between its makers and its consumers, so that a thousand of each make two thousand edges, not a million.
	const before = (node: ManifestNode | Artifact): (ManifestNode | Artifact)[] => {
		if ("makers" in node) return [...node.makers];
		const needed = (node.draft.job.needs ?? []).flatMap((artifact) => makers.get(artifactKey(artifact, node.draft.job.repo)) ?? []);
		return [
			...node.after.flatMap((edge) => edge.node ?? []),
			...node.mates.values(),
			// A job that needs an artifact which it produces itself waits only for the other producers.
			...needed.flatMap((one): (ManifestNode | Artifact)[] =>
				one.makers.has(node) ? [...one.makers].filter((maker) => maker !== node) : [one],
			),
		];
	};
	const sorted: Sorted<ManifestNode | Artifact> = yield* sortGraph<ManifestNode | Artifact>(nodes, before);
	return "order" in sorted ? sorted.order.filter((one): one is ManifestNode => !("makers" in one)) : null;
}

/** An artifact that jobs of the manifest produce. */
type Artifact = { makers: Set<ManifestNode> };

const FOR_AGENTS: readonly string[] = keysMarked("agent");

/** A job that says itself what it runs does not inherit what the defaults run: a command among agents, an agent among commands. */
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

/** Errors of the defaults, reported at `defaults`. The defaults need not be a complete job: missing fields are filled in for the check. */
function defaultFaults(
	defaults: Record<string, unknown>,
	config: Config,
	{ env: _env, names: _names, within: _within, ...options }: PrepareOptions,
): SluiceError[] {
	return faultsOf(defaults, "defaults", (given) => {
		const filled: Record<string, unknown> = { prompt: "", ...given };
		// Which results a prompt may refer to depends on the predecessors of each job.
		if (typeof filled.prompt === "string") filled.prompt = withoutPlaces(filled.prompt);
		if (filled.command === undefined && filled.agent === undefined && filled.payload === undefined) filled.payload = null;
		draftJob(filled, config, { ...options, field: "defaults" });
	});
}

function link(node: ManifestNode, ref: number | string, policy: Policy, byName: Map<string, ManifestNode>): ManifestNode["after"][number] {
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

/** Names of jobs outside the manifest in fields that store only numbers. */
export function outsideNames({ nodes, byName }: PreparedManifest): { name: string; field: string }[] {
	const found: { name: string; field: string }[] = [];
	for (const { draft, field } of nodes)
		if (draft.job.needs || draft.parent !== undefined)
			for (const one of namesIn(draft))
				if (one.field !== "needs" || !byName.has(one.name)) found.push({ ...one, field: `${field}.${one.field}` });
	return found;
}

export function putNumbers({ nodes }: PreparedManifest, numbers: ReadonlyMap<string, number>): void {
	if (numbers.size > 0) for (const { draft, mates } of nodes) putNumbersInto(draft, numbers, mates);
}
