// Reads a part of the graph of jobs: the requested ones, their edges, and the jobs these lead to. Reads in pieces, so that other calls never wait for long.

import type { Scheduler } from "../../contracts/scheduler.ts";
import { ask, type Op } from "../../contracts/store.ts";
import { nth, SluiceError } from "../../core/errors.ts";
import { artifactKey, jobOfArtifact } from "../../core/fact.ts";
import { commandLine, type Graph, type GraphEdge, type GraphNode } from "../../core/graph/text.ts";
import type { Job, JobSpec } from "../../core/job.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import { addTo } from "../../core/text/lists-by-key.ts";
import type { Core } from "../operations/core.ts";
import { mustFind } from "../transaction/find-job.ts";
import type { Tx } from "../transaction/tx.ts";

/** Most jobs in one transaction, and in one picture. */
const PIECE = 500;
const MOST = 200_000;
/** Most producers or consumers of one artifact that are drawn. */
const FAN = 1000;

export type GraphFilter = NonNullable<Parameters<Scheduler["graph"]>[0]>;

export async function readGraph(core: Core, filter: GraphFilter): Promise<Graph> {
	const depth = filter.max_depth ?? 3;
	const shown = filter.job === undefined ? await asked(core, filter) : await around(core, filter.job, depth);
	const nodes = new Map<number, GraphNode>();
	const edges: GraphEdge[] = [];
	let level = shown;
	for (let left = Math.max(1, depth); level.length > 0 && nodes.size < MOST; left--) {
		const next = new Set<number>();
		for (let at = 0; at < level.length; at += PIECE) {
			const some = await core.look((tx) => look(tx, level.slice(at, at + PIECE), left > 0 ? "with edges" : "alone"));
			for (const node of some.nodes) nodes.set(node.id, node);
			for (const edge of some.edges) {
				edges.push(edge);
				if (edge.to !== null) next.add(edge.to);
			}
		}
		if (left <= 0) break;
		level = [...next].filter((id) => !nodes.has(id)).sort((a, b) => a - b);
	}
	return { shown: shown.filter((id) => nodes.has(id)), nodes: [...nodes.values()].sort((a, b) => a.id - b.id), edges };
}

/** The numbers of active and blocked jobs, or of all. */
async function asked(core: Core, { all, batch }: GraphFilter): Promise<number[]> {
	const only = batch === undefined ? {} : { batch };
	const ids: number[] = [];
	for (const read of ["active", "ended"] as const) {
		const filter = read === "ended" && !all ? { ...only, status: ["blocked_by_dependency" as const] } : only;
		for (let after = 0; ; ) {
			const from = after;
			const some = await core.look(function* (tx) {
				const jobs: Job[] = yield* ask({ read, filter, after: from, limit: PIECE });
				return jobs.map(({ id, kind }) => ({ id, isOurs: queuePolicy(kind).isListed && !tx.isComing(id) }));
			});
			ids.push(...some.flatMap(({ id, isOurs }) => (isOurs ? [id] : [])));
			if (ids.length > MOST)
				throw new SluiceError("limit", `more than ${MOST} jobs are too many for one picture`, {
					field: "all",
					hint: "name one job, or a batch",
				});
			if (some.length < PIECE) break;
			after = nth(some, -1).id;
		}
	}
	return [...new Set(ids)].sort((a, b) => a - b);
}

/** One job first, then its dependents and consumers, up to `depth` steps away. */
function around(core: Core, id: number, depth: number): Promise<number[]> {
	return core.look(function* (tx) {
		yield* mustFind(tx, id);
		const found = new Set([id]);
		let level = [id];
		for (let left = depth; left > 0 && level.length > 0; left--) {
			const next: number[] = [];
			yield* tx.load(level);
			for (const { job } of yield* ask({ read: "fan", preds: level, limit: MOST })) next.push(job);
			for (const one of level) {
				const job = tx.peek(one);
				const keys = [`artifact:job:${one}`, `artifact:patch:${one}`, ...(job?.produces ?? []).map((made) => artifactKey(made, job?.repo))];
				for (const key of keys) next.push(...(yield* ask({ read: "links", key, role: "needs", after: 0, limit: FAN })));
			}
			level = [...new Set(next)].filter((one) => !found.has(one) && !tx.isComing(one)).sort((a, b) => a - b);
			for (const one of level) found.add(one);
		}
		const [first, ...rest] = found;
		return [first as number, ...rest.sort((a, b) => a - b)];
	});
}

function* look(tx: Tx, ids: readonly number[], how: "with edges" | "alone"): Op<{ nodes: GraphNode[]; edges: GraphEdge[] }> {
	yield* tx.load(ids);
	const jobs = ids.flatMap((id) => (tx.isComing(id) ? [] : (tx.peek(id) ?? [])));
	const specs = yield* tx.specs(jobs.map((job) => job.id));
	const nodes = jobs.map((job): GraphNode => {
		const spec: Partial<JobSpec> = specs.get(job.id) ?? {};
		return {
			id: job.id,
			status: job.status,
			lane: job.lane,
			name: job.name ?? null,
			base_branch: spec.base_branch ?? null,
			command: commandLine(job, spec),
			wait: job.wait_reason?.detail ?? (job.status === "blocked_by_dependency" ? (job.end_reason ?? null) : null),
			locks: (job.locks ?? []).map((lock) => ({ ...lock })),
			pinned_head: job.pinned_head ? { ...job.pinned_head } : null,
		};
	});
	if (how === "alone" || jobs.length === 0) return { nodes, edges: [] };
	const after = new Map<number, GraphEdge[]>();
	for (const { job, pred, policy } of yield* ask({ read: "preds_of", jobs: jobs.map((job) => job.id) }))
		addTo(after, job, { from: job, to: pred, after: policy });
	const edges: GraphEdge[] = [];
	for (const job of jobs) {
		edges.push(...(after.get(job.id) ?? []));
		for (const artifact of job.needs ?? []) edges.push(...(yield* needed(tx, job, artifact)));
	}
	return { nodes, edges };
}

/** Edges to the jobs that produce an artifact; if there is none, an edge to a leaf that says whether the artifact is present. */
function* needed(tx: Tx, job: Job, artifact: string): Op<GraphEdge[]> {
	const key = artifactKey(artifact, job.repo);
	const number = jobOfArtifact(artifact);
	const makers: number[] = number === undefined ? yield* ask({ read: "links", key, role: "makes", after: 0, limit: FAN }) : [number];
	const others = makers.filter((id) => id !== job.id && !tx.isComing(id));
	if (others.length > 0) return others.map((to) => ({ from: job.id, to, artifact }));
	const fact = yield* tx.get("fact", key);
	return [{ from: job.id, to: null, artifact, state: fact?.value === true ? "present" : "missing" }];
}
