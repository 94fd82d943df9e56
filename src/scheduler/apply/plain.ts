// A manifest, and parts of one, as plain data: what the operations of an apply are given. Nodes refer to each other by their position in a list instead of by
// reference, and to jobs by number.

import { nth } from "../../core/errors.ts";
import type { Draft } from "../../core/input/job.ts";
import type { Policy } from "../../core/job.ts";
import type { ManifestNode, PreparedManifest } from "./prepare.ts";

/** A prepared manifest. `node`: the position of another node; `job`: the number of a job outside; neither: a name that is still to be looked up. */
export type PlainManifest = {
	nodes: {
		draft: Draft;
		index: number;
		field: string;
		leads: boolean;
		after: { node?: number; job?: number; policy: Policy }[];
		mates: [artifact: string, node: number][];
	}[];
	batch?: string | undefined;
};

/** A manifest as `prepare` made it: nothing was looked up in the store yet. */
export function plainManifest({ nodes, batch }: PreparedManifest): PlainManifest {
	const places = new Map<ManifestNode, number>();
	for (const [place, node] of nodes.entries()) places.set(node, place);
	const placeOf = (node: ManifestNode) => places.get(node) as number;
	return {
		nodes: nodes.map(({ draft, index, field, leads, after, mates }) => ({
			draft,
			index,
			field,
			leads,
			after: after.map(({ node, job, policy }) =>
				node ? { node: placeOf(node), policy } : job === undefined || Number.isNaN(job) ? { policy } : { job, policy },
			),
			mates: mates.size === 0 ? [] : Array.from(mates, ([artifact, mate]): [string, number] => [artifact, placeOf(mate)]),
		})),
		batch,
	};
}

/** The manifest again, for one attempt to add it. */
export function manifestOf({ nodes: plain, batch }: PlainManifest): PreparedManifest {
	const nodes = plain.map(
		({ draft, index, field, leads }): ManifestNode => ({ draft, index, field, job: 0, leads, after: [], mates: new Map() }),
	);
	const inOrder: ManifestNode[] = [];
	for (const [place, { after, mates }] of plain.entries()) {
		const node = nth(nodes, place);
		for (const { node: other, job = Number.NaN, policy } of after)
			node.after.push(other === undefined ? { job, policy } : { node: nth(nodes, other), policy });
		for (const [artifact, mate] of mates) node.mates.set(artifact, nth(nodes, mate));
		inOrder[node.index] = node;
	}
	const byName = new Map<string, ManifestNode>();
	for (const node of inOrder) if (node.draft.job.name !== undefined) byName.set(node.draft.job.name, node);
	return { nodes, circular: false, byName, byUnique: new Map(), coming: new Map(), batch, admitted: new Set() };
}

/** The target of an edge: a new job of this manifest, or the number of an existing one. */
export function targetOf({ node, job }: ManifestNode["after"][number]): ManifestNode | number {
	const target = node?.alias ?? node;
	return target && !target.skip && !target.updates ? target : (target?.job ?? (job as number));
}

/**
 * A job of a manifest that has its number, or that changes an existing one. Of its edges, `own` lead to new jobs of the same manifest, `outside` to jobs that
 * exist. `needs`: with numbers for the jobs of the manifest.
 */
export type NumberedNode = {
	draft: Draft;
	job: number;
	field: string;
	leads: boolean;
	chain?: number | undefined;
	after: { job: number; policy: Policy; own?: true; outside?: true }[];
	needs?: string[] | undefined;
};

export function numberedNode(node: ManifestNode): NumberedNode {
	const { draft, job, field, leads, chain, after } = node;
	return { draft, job, field, leads, chain, after: after.map(numberedEdge), needs: numberedNeeds(node) };
}

const numberedEdge = (edge: ManifestNode["after"][number]): NumberedNode["after"][number] => {
	const { node, policy } = edge;
	const target = targetOf(edge);
	if (typeof target !== "number") return { job: target.job, policy, own: true };
	return !node || node.updates || (node.skip && !node.alias) ? { job: target, policy, outside: true } : { job: target, policy };
};

/** Replaces names in `needs` (`patch:build`, where build is a job of the same manifest) by numbers, which are known by now. */
function numberedNeeds({ draft, mates }: ManifestNode): string[] | undefined {
	if (mates.size === 0) return undefined;
	return draft.job.needs?.map((artifact) => {
		const mate = mates.get(artifact);
		return mate ? `${artifact.slice(0, artifact.indexOf(":"))}:${numberOf(mate)}` : artifact;
	});
}

export const numberOf = (node: ManifestNode): number => node.alias?.job ?? node.job;

/**
 * What `apply --update` changes. `nodes`: of the jobs that are to be changed. `edges`: of all jobs that the manifest adds or changes, the jobs that they come
 * after. `batch`, `names`, `jobs`: what the manifest names, to report the open jobs of its batch that it does not.
 */
export type ManifestUpdate = {
	nodes: NumberedNode[];
	edges: [job: number, after: number[]][];
	batch?: string | undefined;
	names: string[];
	jobs: number[];
};

export function manifestUpdate({ nodes, byName, batch }: PreparedManifest): ManifestUpdate {
	const updates = nodes.filter((node) => node.updates);
	const edges =
		updates.length === 0
			? []
			: nodes.filter((node) => !node.skip).map(({ job, after }): [number, number[]] => [job, after.map((edge) => numberedEdge(edge).job)]);
	const named = batch === undefined ? { names: [], jobs: [] } : { names: [...byName.keys()], jobs: nodes.map(({ job }) => job) };
	return { nodes: updates.map(numberedNode), edges, batch, ...named };
}
