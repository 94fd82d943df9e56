// Graphs of jobs: the format of preset dag by example, compared with text files, and what holds for every graph.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { POLICIES, STATUSES } from "../job.ts";
import { commandLine, type Graph, type GraphEdge, type GraphNode, graphDocument, graphText } from "./text.ts";

const FIXTURES = join(import.meta.dirname, "../../../test/fixtures/graph");
const fixture = (name: string) => readFileSync(join(FIXTURES, name), "utf8");

const node = (id: number, more: Partial<GraphNode> = {}): GraphNode => ({
	id,
	status: "queued",
	lane: "default",
	name: null,
	base_branch: null,
	command: "true",
	wait: null,
	locks: [],
	pinned_head: null,
	...more,
});

/** The pipeline of preset dag: a plan that is present, its approval, its review, its merge; and a job whose plan no job makes. */
const PIPELINE: Graph = {
	shown: [17, 18, 19, 24],
	nodes: [
		node(16, { status: "succeeded", lane: "build", name: "materialize", command: "vizier build materialize" }),
		node(17, { status: "running", lane: "approve", name: "foo", base_branch: "main", command: "vizier approve foo" }),
		node(18, {
			status: "waiting_on_deps",
			lane: "review",
			name: "foo-review",
			base_branch: "main",
			command: "vizier review foo",
			wait: "waiting on job 17",
		}),
		node(19, {
			status: "waiting_on_deps",
			lane: "merge",
			command: "vizier merge foo",
			wait: "waiting on job 18",
			locks: [
				{ key: "branch:main", mode: "exclusive" },
				{ key: "repo", mode: "shared" },
			],
			pinned_head: { branch: "main", commit: "0a1b2c3" },
		}),
		node(24, {
			status: "blocked_by_dependency",
			lane: "ask",
			command: "vizier ask foo",
			wait: "missing doc:draft/bar:plan.md",
		}),
	],
	edges: [
		{ from: 17, to: 16, after: "success" },
		{ from: 17, to: null, artifact: "branch:draft/foo", state: "present" },
		{ from: 18, to: 17, after: "success" },
		{ from: 18, to: 17, artifact: "patch:17" },
		{ from: 19, to: 18, after: "any" },
		{ from: 19, to: 9, after: "success" },
		{ from: 24, to: null, artifact: "doc:draft/bar:plan.md", state: "missing" },
	],
};

describe("by example", () => {
	test("dag", () => expect(`${graphText(PIPELINE, "dag", 3)}\n`).toBe(fixture("pipeline.dag.txt")));
	test("dag, one step deep", () => expect(`${graphText(PIPELINE, "dag", 1)}\n`).toBe(fixture("pipeline-depth-1.dag.txt")));
	test("json", () => expect(graphDocument(PIPELINE)).toEqual(JSON.parse(fixture("pipeline.json"))));
	test("mermaid", () => expect(`${graphText(PIPELINE, "mermaid", 3)}\n`).toBe(fixture("pipeline.mermaid.txt")));
	test("dot", () => expect(`${graphText(PIPELINE, "dot", 3)}\n`).toBe(fixture("pipeline.dot.txt")));

	test("nothing to show", () => {
		const empty: Graph = { shown: [], nodes: [], edges: [] };
		expect(graphText(empty, "dag", 3)).toBe("Outcome: No scheduled jobs");
		expect(graphDocument(empty)).toEqual({ nodes: [], edges: [] });
	});

	test("depth 0 shows the jobs alone", () => {
		expect(
			graphText(PIPELINE, "dag", 0)
				.split("\n")
				.map((line) => line.split(" ")[0]),
		).toEqual(["17", "18", "19", "24"]);
	});

	test("commands in one line", () => {
		expect(commandLine({ kind: "command" }, { command: ["echo", "it's", "a b", "-x=1"] })).toBe("echo 'it'\\''s' 'a b' -x=1");
		expect(commandLine({ kind: "agent", agent: "claude" }, { prompt: "\nFix it\nand more" })).toBe("claude Fix it");
		expect(commandLine({ kind: "payload" }, {})).toBe("payload");
	});
});

describe("for every graph", () => {
	const graphs: fc.Arbitrary<Graph> = fc.integer({ min: 0, max: 12 }).chain((count) =>
		fc
			.record({
				nodes: fc.tuple(
					...Array.from({ length: count }, (_, index) =>
						fc
							.record({ status: fc.constantFrom(...STATUSES), name: fc.option(fc.string()), wait: fc.option(fc.string()) })
							.map((more) => node(index + 1, more)),
					),
				),
				edges: fc.array(
					fc.record({
						from: fc.integer({ min: 1, max: Math.max(1, count) }),
						to: fc.option(fc.integer({ min: 1, max: count + 2 })),
						policy: fc.constantFrom(...POLICIES),
						artifact: fc.string({ minLength: 1 }),
						kind: fc.boolean(),
					}),
				),
				depth: fc.nat({ max: 5 }),
			})
			.map(({ nodes, edges }) => ({
				shown: nodes.map((one) => one.id),
				nodes,
				edges: edges.map(
					({ from, to, policy, artifact, kind }): GraphEdge =>
						to === null ? { from, to, artifact, state: "present" } : kind ? { from, to, after: policy } : { from, to, artifact },
				),
			})),
	);

	test("a dag is plain ASCII, a line for each job, cycles or not, and never deeper than asked", () => {
		fc.assert(
			fc.property(graphs, fc.nat({ max: 5 }), (graph, depth) => {
				const lines = graphText(graph, "dag", depth).split("\n");
				expect(lines.join("")).toMatch(/^[ -~]*$/);
				expect(lines.filter((line) => /^\d/.test(line)).length).toBe(graph.shown.length);
				for (const line of lines)
					if (/^[ |`]/.test(line))
						expect((/^(?:[|` ][ -]{3})+/.exec(line)?.[0].length ?? 0) / 4).toBeLessThanOrEqual(Math.max(1, depth + 1));
			}),
		);
	});

	test("the document has every job once, and every edge from one of them", () => {
		fc.assert(
			fc.property(graphs, (graph) => {
				const { nodes, edges } = graphDocument(graph);
				expect(nodes.map((one) => one.id)).toEqual(graph.shown);
				expect(edges.length).toBe(graph.edges.filter((edge) => graph.shown.includes(edge.from)).length);
				for (const edge of edges) expect((edge.after === undefined) !== (edge.artifact === undefined)).toBe(true);
			}),
		);
	});

	test("drawings refer only to nodes that they draw", () => {
		fc.assert(
			fc.property(graphs, (graph) => {
				const lines = graphText(graph, "mermaid", 3).split("\n");
				const declared = new Set(lines.flatMap((line) => /^ {2}([ja]\d+)[[(]/.exec(line)?.[1] ?? []));
				for (const line of lines) {
					const arrow = /^ {2}([ja]\d+) -->(?:\|".*"\|)? (j\d+)$/.exec(line);
					if (arrow) expect([declared.has(arrow[1] as string), declared.has(arrow[2] as string)]).toEqual([true, true]);
				}
			}),
		);
	});
});
