// States and the allowed moves between them: the table of the model, move by move.

import { describe, expect, test } from "vitest";
import { SluiceError } from "./errors.ts";
import { checkMove, EXIT_KINDS, isTerminal, isWaiting, MERGE_STATUSES, mayMove, runId, STATUSES, TERMINAL, WAITING } from "./job.ts";

describe("moves", () => {
	const waiting = new Set<string>(["queued", "waiting_on_deps", "waiting_on_locks"]);
	const allowed = (from: string, to: string): boolean => {
		if (waiting.has(from)) return to !== "succeeded";
		if (from === "running") return waiting.has(to) || ["succeeded", "failed", "cancelled"].includes(to);
		return waiting.has(to);
	};

	test.each(STATUSES.flatMap((from) => STATUSES.map((to) => [from, to] as const)))("%s → %s", (from, to) => {
		expect(mayMove(from, to)).toBe(allowed(from, to));
	});

	test("a refused move names both states", () => {
		expect(() => checkMove(7, "succeeded", "running")).toThrow(SluiceError);
		expect(() => checkMove(7, "succeeded", "running")).toThrow("job 7 is succeeded and cannot become running");
		expect(() => checkMove(7, "queued", "running")).not.toThrow();
	});
});

test("each status is waiting, running or terminal", () => {
	expect(STATUSES.filter(isWaiting)).toEqual([...WAITING]);
	expect(STATUSES.filter(isTerminal)).toEqual([...TERMINAL]);
	expect(STATUSES.filter((status) => !isWaiting(status) && !isTerminal(status))).toEqual(["running"]);
});

test("the model's words", () => {
	expect([...STATUSES]).toEqual([
		"queued",
		"waiting_on_deps",
		"waiting_on_locks",
		"running",
		"succeeded",
		"failed",
		"cancelled",
		"blocked_by_dependency",
		"expired",
	]);
	expect(EXIT_KINDS.join(" ")).toBe(
		"completed failed crashed cancelled timeout stalled rate_limited needs_human lost preempted drained launch_failed",
	);
	expect(MERGE_STATUSES.join(" ")).toBe("none pending merged conflict verify_failed base_dirty requested kept");
	expect(runId(12, 3)).toBe("12.3");
});
