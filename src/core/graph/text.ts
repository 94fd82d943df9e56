// Prints jobs and what they wait for as text: dag (the format of preset dag, plain ASCII), json, mermaid, dot. Pure.
//
//   dag       <id> <status> [lane/name/base_branch] [wait: …] [locks: …] [pinned: …]
//             |-- after:success -> <id> <status>          its edges, and below them the edges of their targets
//             `-- <artifact> -> <id> <status>             or `<artifact> -> [present]` if no job makes it
//   json      edges go from the consumer to the producer; a leaf's `to` is `artifact:<artifact>`
//   mermaid, dot   arrows follow the work: from the producer to the consumer

import { given } from "../given.ts";
import type { Lock, Policy, Status } from "../job.ts";
import { addTo } from "../text/lists-by-key.ts";

export type GraphNode = {
	id: number;
	status: Status;
	lane: string;
	name: string | null;
	base_branch: string | null;
	/** What the job runs, in one line. */
	command: string;
	wait: string | null;
	locks: Lock[];
	pinned_head: { branch: string; commit: string } | null;
};
type ArtifactState = "present" | "missing";
/** `to` is null if no job makes the artifact: then `state` says whether it is present. */
export type GraphEdge = { from: number; to: number | null; after?: Policy; artifact?: string; state?: ArtifactState };
/** `shown`: the requested jobs, in order. `nodes` also has the targets of their edges, as far as they were read. */
export type Graph = { shown: number[]; nodes: GraphNode[]; edges: GraphEdge[] };

export const GRAPH_FORMATS = ["dag", "json", "mermaid", "dot"] as const;
export type GraphFormat = (typeof GRAPH_FORMATS)[number];

const NOTHING_SHOWN = "Outcome: No scheduled jobs";
/** Maximum lines of a dag: a graph with many paths would fill any screen and disk. */
const MOST_LINES = 200_000;

export type GraphDocument = {
	nodes: { id: number; status: Status; command: string; wait: string | null }[];
	edges: { from: number; to: number | string; after?: { policy: Policy }; artifact?: string; state?: ArtifactState }[];
};

/** `which`: the requested jobs only, or also all jobs reached from them (for one job with what it waits for). */
export function graphDocument(graph: Graph, which: "asked" | "reached" = "asked"): GraphDocument {
	const byId = new Map(graph.nodes.map((node) => [node.id, node]));
	const shown = new Set(which === "asked" ? graph.shown : [...graph.shown, ...byId.keys()]);
	return {
		nodes: [...shown].flatMap((id) => {
			const node = byId.get(id);
			return node ? [{ id, status: node.status, command: node.command, wait: node.wait }] : [];
		}),
		edges: graph.edges
			.filter((edge) => shown.has(edge.from))
			.map(({ from, to, after, artifact, state }) => ({
				from,
				to: to ?? `artifact:${artifact}`,
				...given({ after: after && { policy: after }, artifact, state }),
			})),
	};
}

export function graphText(graph: Graph, format: Exclude<GraphFormat, "json">, maxDepth: number): string {
	if (graph.shown.length === 0 && format === "dag") return NOTHING_SHOWN;
	if (format === "dag") return dagLines(graph, maxDepth).join("\n");
	return (format === "mermaid" ? mermaidLines(graph) : dotLines(graph)).join("\n");
}

/** Printable ASCII; other characters are escaped. */
const ascii = (text: string) =>
	text.replace(/[^ -~]/gu, (char) =>
		char === "\n" ? "\\n" : char === "\t" ? "\\t" : `\\u{${(char.codePointAt(0) as number).toString(16)}}`,
	);

function nodeLine(node: GraphNode): string {
	const place = [node.lane, node.name, node.base_branch].filter((part) => part !== null).join("/");
	const parts = [`${node.id} ${node.status}`, `[${place}]`];
	if (node.wait !== null) parts.push(`[wait: ${node.wait}]`);
	if (node.locks.length > 0) parts.push(`[locks: ${node.locks.map(({ key, mode }) => `${key}:${mode}`).join(", ")}]`);
	if (node.pinned_head) parts.push(`[pinned: ${node.pinned_head.branch}@${node.pinned_head.commit}]`);
	return ascii(parts.join(" "));
}

function dagLines(graph: Graph, maxDepth: number): string[] {
	const byId = new Map(graph.nodes.map((node) => [node.id, node]));
	const from = new Map<number, GraphEdge[]>();
	for (const edge of graph.edges) addTo(from, edge.from, edge);
	const lines: string[] = [];
	/** Jobs already expanded below the present root: a second path to one prints a single line. */
	let unfolded = new Set<number>();

	function label({ to, after, artifact, state }: GraphEdge): string {
		const what = after === undefined ? (artifact as string) : `after:${after}`;
		return ascii(to === null ? `${what} -> [${state}]` : `${what} -> ${to} ${byId.get(to)?.status ?? "missing"}`);
	}
	function unfold(id: number, indent: string, depth: number): void {
		if (depth === 0 || unfolded.has(id)) return;
		unfolded.add(id);
		const edges = from.get(id) ?? [];
		edges.forEach((edge, index) => {
			if (lines.length >= MOST_LINES) return;
			const last = index === edges.length - 1;
			lines.push(`${indent}${last ? "`-- " : "|-- "}${label(edge)}`);
			if (edge.to !== null) unfold(edge.to, `${indent}${last ? "    " : "|   "}`, depth - 1);
		});
	}
	for (const [index, id] of graph.shown.entries()) {
		const node = byId.get(id);
		if (!node) continue;
		if (lines.length >= MOST_LINES) {
			lines.push(`... and ${graph.shown.length - index} more jobs: --job ID shows one`);
			break;
		}
		lines.push(nodeLine(node));
		unfolded = new Set();
		unfold(id, "", maxDepth);
	}
	return lines;
}

/** The requested jobs and the targets of their edges, each once; leaves by their artifact. */
function drawn(graph: Graph): { nodes: (GraphNode & { shown: boolean })[]; edges: GraphEdge[]; leaves: Map<string, ArtifactState> } {
	const shown = new Set(graph.shown);
	const edges = graph.edges.filter((edge) => shown.has(edge.from));
	const wanted = new Set([...shown, ...edges.flatMap((edge) => edge.to ?? [])]);
	const leaves = new Map(edges.flatMap(({ to, artifact, state }) => (to === null ? [[artifact as string, state as ArtifactState]] : [])));
	return {
		nodes: graph.nodes.filter((node) => wanted.has(node.id)).map((node) => ({ ...node, shown: shown.has(node.id) })),
		edges,
		leaves,
	};
}

const title = (node: GraphNode) => `${node.id}${node.name === null ? "" : ` ${node.name}`}`;
const short = (text: string) => (text.length > 80 ? `${text.slice(0, 79)}…` : text);
const COLOURS: Partial<Record<Status, string>> = {
	running: "#bfdbfe",
	succeeded: "#bbf7d0",
	failed: "#fecaca",
	blocked_by_dependency: "#e9d5ff",
};

const onLine = (text: string) => text.replace(/\p{Cc}/gu, " ");
const ENTITIES: Record<string, string> = { "&": "amp", '"': "quot", "<": "lt", ">": "gt" };

function mermaidLines(graph: Graph): string[] {
	const { nodes, edges, leaves } = drawn(graph);
	/** Replaces characters that would end a label or be read as markup by entities. */
	const quoted = (text: string) => `"${onLine(text).replace(/[&"<>]/g, (char) => `#${ENTITIES[char]};`)}"`;
	const names = new Map([...leaves.keys()].map((artifact, index) => [artifact, `a${index + 1}`]));
	const known = new Set(nodes.map((node) => node.id));
	return [
		"flowchart LR",
		...nodes.map((node) => `  j${node.id}[${quoted(`${short(title(node))}: ${node.status}`)}]:::${node.status}`),
		...[...leaves].map(([artifact, state]) => `  ${names.get(artifact)}([${quoted(`${short(artifact)}: ${state}`)}])`),
		...edges.flatMap(({ from, to, after, artifact }) => {
			if (to !== null && !known.has(to)) return [];
			const source = to === null ? names.get(artifact as string) : `j${to}`;
			return to === null ? [`  ${source} --> j${from}`] : [`  ${source} -->|${quoted(after ?? short(artifact as string))}| j${from}`];
		}),
		...[...new Set(nodes.map((node) => node.status))].map((status) => `  classDef ${status} fill:${COLOURS[status] ?? "#f4f4f5"}`),
	];
}

function dotLines(graph: Graph): string[] {
	const { nodes, edges, leaves } = drawn(graph);
	const quoted = (text: string) => `"${onLine(text).replace(/[\\"]/g, "\\$&")}"`;
	const known = new Set(nodes.map((node) => node.id));
	const leaf = (artifact: string) => quoted(`artifact:${artifact}`);
	return [
		"digraph sluice {",
		"  rankdir=LR;",
		'  node [shape=box, style="rounded,filled", fillcolor="#f4f4f5"];',
		...nodes.map((node) => {
			const label = quoted(`${short(title(node))}: ${node.status}`);
			const colour = COLOURS[node.status] === undefined ? "" : `, fillcolor="${COLOURS[node.status]}"`;
			return `  ${node.id} [label=${label}${colour}${node.shown ? "" : ', style="rounded,dashed"'}];`;
		}),
		...[...leaves].map(([artifact, state]) => `  ${leaf(artifact)} [label=${quoted(`${short(artifact)}: ${state}`)}, shape=ellipse];`),
		...edges.flatMap(({ from, to, after, artifact }) => {
			if (to === null) return [`  ${leaf(artifact as string)} -> ${from};`];
			return known.has(to) ? [`  ${to} -> ${from} [label=${quoted(after ?? short(artifact as string))}];`] : [];
		}),
		"}",
	];
}

/** A command line as a person would type it; for an agent its name and the beginning of its prompt. */
export function commandLine(job: { kind: string; agent?: string | undefined }, spec: { command?: string[]; prompt?: string }): string {
	if (spec.command)
		return spec.command.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
	if (job.agent === undefined) return job.kind;
	const first = /[^\r\n]+/.exec(spec.prompt ?? "")?.[0].trim() ?? "";
	return first === "" ? job.agent : `${job.agent} ${short(first)}`;
}
