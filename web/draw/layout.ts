// Positions of the jobs of a graph: columns by predecessors, ordered so that few arrows cross. Pure; runs in a worker.
//
// Up to DAGRE_MOST jobs dagre does it, which routes arrows better. For 2,000 jobs dagre took 19 s and more; this takes about 100 ms.

import dagre from "@dagrejs/dagre";

export type Edge = { from: number; to: number };
export type LayoutRequest = { nodes: readonly number[]; edges: readonly Edge[] };
/** `x`, `y`: a node's centre. `bends`: intermediate points of arrows that go around nodes. */
export type LaidOut = {
	nodes: { id: number; x: number; y: number }[];
	edges: (Edge & { bends: { x: number; y: number }[] })[];
	width: number;
	height: number;
};

export const NODE = { width: 176, height: 34, gapX: 56, gapY: 12 };
const DAGRE_MOST = 120;

/** `from` comes before `to`. */
export function layOut(asked: LayoutRequest): LaidOut {
	const there = new Set(asked.nodes);
	const edges = asked.edges.filter(({ from, to }) => from !== to && there.has(from) && there.has(to));
	if (asked.nodes.length <= DAGRE_MOST && edges.length > 0) return byDagre(asked.nodes, edges);
	return byColumns(asked.nodes, edges);
}

function byDagre(nodes: readonly number[], edges: readonly Edge[]): LaidOut {
	const graph = new dagre.graphlib.Graph();
	graph.setGraph({ rankdir: "LR", nodesep: NODE.gapY, ranksep: NODE.gapX, marginx: 0, marginy: 0 });
	graph.setDefaultEdgeLabel(() => ({}));
	for (const id of nodes) graph.setNode(String(id), { width: NODE.width, height: NODE.height });
	for (const { from, to } of edges) graph.setEdge(String(from), String(to));
	dagre.layout(graph);
	const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
	return {
		nodes: nodes.map((id) => {
			const { x, y } = graph.node(String(id)) as { x: number; y: number };
			return { id, x, y };
		}),
		edges: edges.map((edge) => {
			const { points = [] } = graph.edge(String(edge.from), String(edge.to)) as { points?: { x: number; y: number }[] };
			return { ...edge, bends: points.slice(1, -1).map(({ x, y }) => ({ x, y })) };
		}),
		width,
		height,
	};
}

function neighbours(nodes: readonly number[], edges: readonly Edge[]): { before: Map<number, number[]>; behind: Map<number, number[]> } {
	const before = new Map<number, number[]>(nodes.map((id) => [id, []]));
	const behind = new Map<number, number[]>(nodes.map((id) => [id, []]));
	for (const { from, to } of edges) {
		before.get(to)?.push(from);
		behind.get(from)?.push(to);
	}
	return { before, behind };
}

/** The longest path from a start, in steps. A cycle (there should be none) is cut where it is found. */
export function columnsOf(nodes: readonly number[], edges: readonly Edge[]): Map<number, number> {
	const { before, behind } = neighbours(nodes, edges);
	const left = new Map(nodes.map((id) => [id, before.get(id)?.length ?? 0]));
	const column = new Map<number, number>(nodes.map((id) => [id, 0]));
	const open = nodes.filter((id) => left.get(id) === 0);
	for (let next = open.pop(); next !== undefined; next = open.pop())
		for (const id of behind.get(next) ?? []) {
			column.set(id, Math.max(column.get(id) ?? 0, (column.get(next) ?? 0) + 1));
			left.set(id, (left.get(id) ?? 0) - 1);
			if (left.get(id) === 0) open.push(id);
		}
	return column;
}

const SWEEPS = 6;
/** Maximum jobs in one column before it is split. */
const TALLEST = 60;

function byColumns(nodes: readonly number[], edges: readonly Edge[]): LaidOut {
	const { before, behind } = neighbours(nodes, edges);
	const single = nodes.filter((id) => before.get(id)?.length === 0 && behind.get(id)?.length === 0);
	const alone = new Set(single);
	const bound = nodes.filter((id) => !alone.has(id));
	const column = columnsOf(bound, edges);
	const columns: number[][] = [];
	for (const id of bound) {
		const c = column.get(id) ?? 0;
		columns[c] ??= [];
		columns[c].push(id);
	}
	const place = new Map<number, number>();
	const number = (some: readonly number[]) => {
		for (const [index, id] of some.entries()) place.set(id, index - some.length / 2);
	};
	columns.forEach(number);
	for (let sweep = 0; sweep < SWEEPS; sweep++) {
		const order = sweep % 2 === 0 ? columns : [...columns].reverse();
		const beside = sweep % 2 === 0 ? before : behind;
		for (const some of order) {
			const middle = new Map(
				some.map((id) => {
					const near = beside.get(id) ?? [];
					const sum = near.reduce((total, other) => total + (place.get(other) ?? 0), 0);
					return [id, near.length === 0 ? (place.get(id) ?? 0) : sum / near.length];
				}),
			);
			some.sort((a, b) => (middle.get(a) ?? 0) - (middle.get(b) ?? 0) || a - b);
			number(some);
		}
	}
	const [stepX, stepY] = [NODE.width + NODE.gapX, NODE.height + NODE.gapY];
	const tallest = Math.max(1, ...columns.map((some) => some.length));
	const found: LaidOut["nodes"] = [];
	const halfX = NODE.width / 2;
	columns.forEach((some, c) => {
		some.forEach((id, index) => {
			found.push({ id, x: c * stepX + halfX, y: (tallest / 2 - some.length / 2 + index + 0.5) * stepY });
		});
	});
	// Jobs without edges are placed below, in a block.
	const top = bound.length === 0 ? 0 : tallest * stepY + NODE.height;
	const wide = Math.max(columns.length, Math.ceil(single.length / TALLEST), Math.min(6, single.length));
	single.forEach((id, index) => {
		found.push({ id, x: (index % wide) * (NODE.width + 16) + halfX, y: top + (Math.floor(index / wide) + 0.5) * stepY });
	});
	const width = Math.max(0, ...found.map(({ x }) => x + halfX));
	const height = Math.max(0, ...found.map(({ y }) => y + stepY / 2));
	return { nodes: found, edges: edges.map((edge) => ({ ...edge, bends: [] })), width, height };
}

/** The longest chain of jobs that are not done yet: what the end depends on, if there is no forecast. */
export function longestChain(nodes: readonly number[], edges: readonly Edge[]): number[] {
	const column = columnsOf(nodes, edges);
	const { before } = neighbours(nodes, edges);
	let last: number | undefined;
	for (const id of nodes) if (last === undefined || (column.get(id) ?? 0) > (column.get(last) ?? 0)) last = id;
	const chain: number[] = [];
	for (let id = last; id !== undefined; ) {
		chain.unshift(id);
		const c = column.get(id) ?? 0;
		id = before.get(id)?.find((one) => column.get(one) === c - 1);
	}
	return chain.length > 1 ? chain : [];
}
