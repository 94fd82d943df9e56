// Orders and cycles of graphs, from one node to a chain too deep for recursion.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Sorted, sortGraph } from "./graph.ts";

function sort<N>(nodes: Iterable<N>, edges: (node: N) => Iterable<N>): Sorted<N> & { turns: number } {
	const steps = sortGraph(nodes, edges);
	for (let turns = 0; ; turns++) {
		const step = steps.next();
		if (step.done) return { ...step.value, turns };
	}
}

/** "a<b,c d" → a comes after b and c. */
const graph = (text: string) => {
	const preds = new Map(text.split(" ").map((part) => [part.split("<")[0] as string, part.split("<")[1]?.split(",") ?? []]));
	return sort(preds.keys(), (node) => preds.get(node) ?? []);
};

describe("by example", () => {
	test.each([
		["a", { order: ["a"] }],
		["a b c", { order: ["a", "b", "c"] }],
		["c<b b<a a", { order: ["a", "b", "c"] }],
		["d<b,c b<a c<a a", { order: ["a", "b", "c", "d"] }],
		["a<a", { cycle: ["a", "a"] }],
		["a<b b<a", { cycle: ["a", "b", "a"] }],
		["x a<b b<c c<a", { cycle: ["a", "b", "c", "a"] }],
		["a<b b<c c<b", { cycle: ["b", "c", "b"] }],
	])("%s", (text, sorted) => {
		expect(graph(text)).toMatchObject(sorted);
	});

	test("nothing at all", () => {
		expect(sort([], () => [])).toMatchObject({ order: [] });
	});

	test("the same edge twice", () => {
		expect(graph("b<a,a a")).toMatchObject({ order: ["a", "b"] });
	});

	test("predecessors that are not among the nodes are sorted too", () => {
		expect(sort(["b"], (node) => (node === "b" ? ["a"] : []))).toMatchObject({ order: ["a", "b"] });
	});
});

describe("by property", () => {
	const size = 40;
	const edgeList = fc.array(fc.tuple(fc.nat({ max: size - 1 }), fc.nat({ max: size - 1 })), { maxLength: 120 });
	const shuffled = fc.shuffledSubarray(
		Array.from({ length: size }, (_, index) => index),
		{ minLength: size },
	);
	const predsOf = (edges: [number, number][]) => (node: number) => edges.filter(([, to]) => to === node).map(([from]) => from);

	test("without a cycle: every node once, after all of its predecessors", () => {
		fc.assert(
			fc.property(edgeList, shuffled, (list, names) => {
				const edges = list.filter(([a, b]) => a < b).map(([a, b]): [number, number] => [names[a] as number, names[b] as number]);
				const sorted = sort(names, predsOf(edges));
				if (!("order" in sorted)) throw new Error("found a cycle where none is");
				expect([...sorted.order].sort((a, b) => a - b)).toEqual([...names].sort((a, b) => a - b));
				const place = new Map(sorted.order.map((node, index) => [node, index]));
				for (const [from, to] of edges) expect(place.get(from)).toBeLessThan(place.get(to) as number);
			}),
		);
	});

	test("with a planted cycle: one is found, and each of its steps is an edge", () => {
		fc.assert(
			fc.property(edgeList, shuffled, fc.integer({ min: 1, max: size }), (list, names, length) => {
				const ring = names.slice(0, length);
				const edges = [...list, ...ring.map((node, index): [number, number] => [node, ring[(index + 1) % length] as number])];
				const sorted = sort(names, predsOf(edges));
				if (!("cycle" in sorted)) throw new Error("found no cycle");
				const { cycle } = sorted;
				expect(cycle.length).toBeGreaterThan(1);
				expect(cycle[0]).toBe(cycle[cycle.length - 1]);
				expect(new Set(cycle).size).toBe(cycle.length - 1);
				for (let at = 1; at < cycle.length; at++) expect(predsOf(edges)(cycle[at - 1] as number)).toContain(cycle[at]);
			}),
		);
	});
});

describe("large", () => {
	const many = 100_000;
	const nodes = Array.from({ length: many }, (_, index) => index);

	test("a chain of 100,000 neither overflows the stack nor blocks other work", () => {
		const sorted = sort([...nodes].reverse(), (node) => (node === 0 ? [] : [node - 1]));
		expect("order" in sorted && sorted.order).toEqual(nodes);
		expect(sorted.turns).toBeGreaterThan(10);
	});

	test("a ring of 100,000 is found whole", () => {
		const sorted = sort(nodes, (node) => [(node + 1) % many]);
		expect("cycle" in sorted && sorted.cycle.length).toBe(many + 1);
	});
});
