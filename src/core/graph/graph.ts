// Sorts jobs, by name or number, in an order that respects every edge, or finds the cycle that prevents one.

import { nth } from "../errors.ts";

export type Sorted<N> = { order: N[] } | { cycle: N[] };

const STEPS = 4000;

/**
 * `edges(node)` returns a node's predecessors; a cycle is a path that ends where it began. Yields now and then, so that other work can run during a large
 * graph.
 */
export function* sortGraph<N>(nodes: Iterable<N>, edges: (node: N) => Iterable<N>): Generator<void, Sorted<N>, void> {
	const state = new Map<N, "open" | "done">();
	const order: N[] = [];
	let steps = 0;
	for (const root of nodes) {
		if (state.has(root)) continue;
		const stack: { node: N; rest: Iterator<N> }[] = [{ node: root, rest: edges(root)[Symbol.iterator]() }];
		state.set(root, "open");
		while (stack.length > 0) {
			if (++steps % STEPS === 0) yield;
			const top = nth(stack, -1);
			const next = top.rest.next();
			if (next.done) {
				state.set(top.node, "done");
				order.push(top.node);
				stack.pop();
			} else if (state.get(next.value) === "open") {
				const path = stack.map((frame) => frame.node);
				return { cycle: [...path.slice(path.indexOf(next.value)), next.value] };
			} else if (!state.has(next.value)) {
				state.set(next.value, "open");
				stack.push({ node: next.value, rest: edges(next.value)[Symbol.iterator]() });
			}
		}
	}
	return { order };
}
