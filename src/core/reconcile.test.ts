// What a host must do: the table, and what holds for any findings.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AssignedRun, type Duty, type FoundRun, reconcile } from "./reconcile.ts";

type State = FoundRun["seen"]["state"];
const SEEN: { [S in State]: FoundRun["seen"] } = {
	alive: { state: "alive", pid: 7, started: "x" },
	exited: { state: "exited", code: 3, signal: null, launch_failed: null },
	gone: { state: "gone", reboot: true },
	unstarted: { state: "unstarted" },
	followed: { state: "followed" },
	reported: { state: "reported" },
	marked: { state: "marked" },
};
const STATES = Object.keys(SEEN) as State[];
const find = (run: string, state: State): FoundRun => ({ run, seen: SEEN[state] });
const runOf = (duty: Duty<AssignedRun>) => ("assigned" in duty ? duty.assigned.run : duty.run);
/** As a line each: `adopt 1.1`. */
const told = (assigned: AssignedRun[], found: FoundRun[]) => reconcile(assigned, found).map((duty) => `${duty.do} ${runOf(duty)}`);

describe("an assigned run", () => {
	test.each<[State | "nothing", Partial<AssignedRun>, string[]]>([
		["alive", {}, ["adopt 1.1"]],
		["alive", { launched: true, stopping: true }, ["adopt 1.1"]],
		["exited", {}, ["end 1.1"]],
		["exited", { stopping: true }, ["end 1.1"]],
		["gone", {}, ["lost 1.1"]],
		["nothing", {}, ["lost 1.1"]],
		["unstarted", {}, ["start 1.1"]],
		["unstarted", { stopping: true }, ["forbid 1.1"]],
		["unstarted", { launched: true }, ["lost 1.1"]],
		["unstarted", { launched: true, stopping: true }, ["lost 1.1"]],
		["followed", {}, []],
		["followed", { launched: true }, []],
		["followed", { stopping: true }, ["pass_stop 1.1"]],
		["followed", { frozen: true }, ["freeze 1.1"]],
		["followed", { frozen: true, stopping: true }, ["pass_stop 1.1"]],
		["reported", { stopping: true, frozen: true }, []],
	])("found %s, %j", (state, more, duties) => {
		expect(told([{ run: "1.1", ...more }], state === "nothing" ? [] : [find("1.1", state)])).toEqual(duties);
	});

	test("frozen or thawed by a person: only what the host does not know yet", () => {
		const followed = (frozen: boolean): FoundRun => ({ run: "1.1", seen: { state: "followed", frozen } });
		expect(told([{ run: "1.1", frozen: true }], [followed(true)])).toEqual([]);
		expect(told([{ run: "1.1" }], [followed(true)])).toEqual(["thaw 1.1"]);
		expect(told([{ run: "1.1" }], [followed(false)])).toEqual([]);
	});

	test("another attempt is another run", () => {
		expect(told([{ run: "1.1" }], [find("1.2", "alive")])).toEqual(["lost 1.1", "clear 1.2"]);
	});

	test("a duty carries what was assigned and what was seen", () => {
		const one = { run: "1.1", token: 5 };
		expect(reconcile([one], [find("1.1", "exited")])).toEqual([{ do: "end", assigned: one, seen: SEEN.exited }]);
		expect(reconcile([one], [find("1.1", "gone")])).toEqual([{ do: "lost", assigned: one, seen: SEEN.gone }]);
		expect(reconcile([one], [])).toEqual([{ do: "lost", assigned: one, seen: { state: "gone", reboot: false } }]);
	});
});

test("not assigned: followed runs are abandoned, live processes cleared, the rest is left", () => {
	expect(
		told(
			[],
			STATES.map((state) => find(state, state)),
		),
	).toEqual(["clear alive", "abandon followed", "clear marked"]);
});

test("each run gets one duty at most, whatever is found; once carried out, there is nothing left to do", () => {
	const run = fc.integer({ min: 1, max: 8 }).map((id) => `${id}.1`);
	const assignedRuns = fc.uniqueArray(fc.record({ run, launched: fc.boolean(), stopping: fc.boolean() }), { selector: (one) => one.run });
	const findings = fc.uniqueArray(
		fc.record({ run, state: fc.constantFrom(...STATES) }).map(({ run, state }) => find(run, state)),
		{ selector: (one) => one.run },
	);
	fc.assert(
		fc.property(assignedRuns, findings, (assigned, found) => {
			const duties = reconcile(assigned, found);
			expect(new Set(duties.map(runOf)).size).toBe(duties.length);
			for (const duty of duties) expect(assigned.some((one) => one.run === runOf(duty))).toBe("assigned" in duty);
			// Only a run that has no process and no exit, and was neither reported as started nor asked to stop, is started.
			for (const duty of duties) if (duty.do === "start") expect(duty.assigned).toMatchObject({ launched: false, stopping: false });
			const after = found.flatMap(({ run, seen }) => {
				const duty = duties.find((one) => runOf(one) === run);
				if (!duty) return [{ run, seen }];
				if (duty.do === "abandon" || duty.do === "clear") return [];
				return [find(run, duty.do === "end" || duty.do === "lost" ? "reported" : "followed")];
			});
			const missing = assigned.filter((one) => !found.some(({ run }) => run === one.run)).map((one) => find(one.run, "reported"));
			expect(told(assigned, [...after, ...missing]).filter((line) => !line.startsWith("pass_stop"))).toEqual([]);
		}),
	);
});
