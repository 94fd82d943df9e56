// Cycles: drawn as text, one line per job, and the message for the waiting job.

import { expect, test } from "vitest";
import { circleOf, circleWords, type Need, needs, needsAnyOf } from "./wait-cycle.ts";

/** `7: after 3, lock db 5, file:x by 3|4, build 1 of 2 beside 3=1 5=1` */
function graph(text: string): Map<number, Need[]> {
	return new Map(
		text
			.trim()
			.split("\n")
			.map((line) => {
				const [, id, rest = ""] = /^\s*(\d+):\s*(.*)$/.exec(line) ?? [];
				return [Number(id), rest === "" ? [] : rest.split(", ").map(needOf)] as const;
			}),
	);
}
function needOf(text: string): Need {
	const [word = "", a = "", b = ""] = text.split(" ");
	if (word === "after" || word === "waits") return needs({ to: Number(a), kind: word });
	if (word === "lock") return needs({ to: Number(b), kind: "lock", what: a });
	const room = /^(\w+) (\d+) of (\d+) beside (.*)$/.exec(text);
	if (room) {
		const links = room[4]!.split(" ").map((one) => {
			const [to, weight] = one.split("=").map(Number) as [number, number];
			return { to, weight, kind: "resource" as const, what: `${room[2]} of ${room[1]}` };
		});
		return { links, least: Number(room[2]) - Number(room[3]) + links.reduce((sum, { weight }) => sum + weight, 0) };
	}
	const [, what, makers] = /^(\S+) by (.*)$/.exec(text) ?? [];
	return needsAnyOf(makers!.split("|").map((to) => ({ to: Number(to), kind: "artifact" as const, what: what! })));
}

function told(waiter: number, awaited: number[], text: string): string | null {
	const nodes = graph(text);
	const steps = circleOf(waiter, awaited);
	let step = steps.next();
	while (!step.done) step = steps.next(new Map(step.value.map((id) => [id, nodes.get(id) ?? []])));
	return step.value && circleWords(waiter, step.value);
}

test.each([
	["a child that hangs on nothing", "7:", null],
	["a child behind a job of another", "7: after 5\n5:", null],
	["the waiter itself", "3:", "job 3 cannot wait for itself", [3]],
	["its own successor", "7: after 3", "job 3 cannot wait for job 7: job 7 comes after job 3"],
	["by way of another", "7: after 5\n5: after 3", "job 3 cannot wait for job 7: job 7 comes after job 5, job 5 comes after job 3"],
	["a lock that the waiter holds", "7: lock db 3", "job 3 cannot wait for job 7: job 7 needs lock db, which job 3 holds"],
	["a lock that another run holds", "7: lock db 5\n5:", null],
	["two runs that wait for each other", "5: waits 3", "job 3 cannot wait for job 5: job 5 waits for job 3", [5]],
	["what the waiter alone makes", "7: file:x by 3", "job 3 cannot wait for job 7: job 7 needs file:x, which job 3 makes"],
	["what another makes, too", "7: file:x by 3|4\n4:", null],
	[
		"what all makers make only afterwards",
		"7: file:x by 3|4\n4: after 3",
		"job 3 cannot wait for job 7: job 7 needs file:x, which job 3 makes",
	],
	["a resource with room beside the waiter", "7: build 1 of 2 beside 3=1", null],
	["a resource without room", "7: build 1 of 1 beside 3=1", "job 3 cannot wait for job 7: job 7 needs 1 of build, which job 3 keeps"],
	[
		"a resource that two waiters share",
		"7: build 1 of 2 beside 3=1 5=1\n5: waits 8\n8: build 1 of 2 beside 3=1 5=1",
		"job 3 cannot wait for job 7: job 7 needs 1 of build, which job 3 keeps",
	],
	["a resource that a waiter gives back", "7: build 1 of 2 beside 3=1 5=1\n5: waits 8\n8:", null],
	[
		"a circle that is there already",
		"7: after 5\n5: lock db 6\n6: waits 5",
		"job 3 cannot wait for job 7: job 7 comes after job 5, job 5 needs lock db, which job 6 holds, job 6 waits for job 5",
	],
] as [string, string, string | null, number[]?][])("%s", (_, text, words, awaited = [7]) => {
	expect(told(3, awaited, text)).toBe(words);
});

test("one cycle among many is enough, and the shortest path is returned", () => {
	expect(told(3, [6, 7], "6: after 8\n8: after 9\n9: after 3\n7: after 3")).toBe("job 3 cannot wait for job 7: job 7 comes after job 3");
});

test("a long chain without a cycle is walked once", () => {
	const chain = Array.from({ length: 5000 }, (_, n) => `${n + 10}: after ${n + 11}`).join("\n");
	expect(told(3, [10], chain)).toBeNull();
});
