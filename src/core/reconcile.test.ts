// What a host must do: the table, and what holds for any findings.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type RunFinding, reconcile } from "./reconcile.ts";

describe("the table", () => {
	test.each([
		["alive", [{ run: "1.1", state: "alive" }], [{ run: "1.1", do: "adopt" }]],
		["exited 0", [{ run: "1.1", state: "exited", exit_code: 0 }], [{ run: "1.1", do: "end", exit_code: 0 }]],
		["exited 3", [{ run: "1.1", state: "exited", exit_code: 3 }], [{ run: "1.1", do: "end", exit_code: 3 }]],
		["exited, code unknown", [{ run: "1.1", state: "exited" }], [{ run: "1.1", do: "end", exit_code: 1 }]],
		["unstarted", [{ run: "1.1", state: "unstarted" }], [{ run: "1.1", do: "start" }]],
		["gone", [{ run: "1.1", state: "gone" }], [{ run: "1.1", do: "lost" }]],
		["nothing at all", [], [{ run: "1.1", do: "lost" }]],
		[
			"another attempt alive",
			[{ run: "1.2", state: "alive" }],
			[
				{ run: "1.1", do: "lost" },
				{ run: "1.2", do: "stop" },
			],
		],
		["another one's exit is nobody's", [{ run: "2.1", state: "exited" }], [{ run: "1.1", do: "lost" }]],
	] as [string, RunFinding[], unknown[]][])("%s", (_name, found, duties) => {
		expect(reconcile(["1.1"], found)).toEqual(duties);
	});

	test("nothing assigned: live runs are stopped, others are left", () => {
		const found: RunFinding[] = ["alive", "exited", "gone", "unstarted"].map((state, index) => ({
			run: `${index}.1`,
			state: state as RunFinding["state"],
		}));
		expect(reconcile([], found)).toEqual([{ run: "0.1", do: "stop" }]);
	});
});

test("each assigned run gets one duty, each live unassigned run one stop; a second call finds nothing to do", () => {
	const run = fc.integer({ min: 1, max: 8 }).map((id) => `${id}.1`);
	const finding = fc.record({ run, state: fc.constantFrom<RunFinding["state"]>("alive", "exited", "gone", "unstarted") });
	fc.assert(
		fc.property(fc.uniqueArray(run), fc.uniqueArray(finding, { selector: (one) => one.run }), (assigned, found) => {
			const duties = reconcile(assigned, found);
			expect(duties.filter((duty) => duty.do !== "stop").map((duty) => duty.run)).toEqual(assigned);
			const strangers = found.filter((one) => one.state === "alive" && !assigned.includes(one.run)).map((one) => one.run);
			expect(duties.filter((duty) => duty.do === "stop").map((duty) => duty.run)).toEqual(strangers);
			const kept = duties.filter((duty) => duty.do === "adopt" || duty.do === "start").map((duty) => duty.run);
			const again = reconcile(
				kept,
				kept.map((one) => ({ run: one, state: "alive" })),
			);
			expect(again.every((duty) => duty.do === "adopt")).toBe(true);
		}),
	);
});
