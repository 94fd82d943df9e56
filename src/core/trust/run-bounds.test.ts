// What a run may add: the table, field by field; over random chains of jobs that runs add, and with mistakes planted into the rule.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FIELDS } from "../../../test/fuzz/job-fields.ts";
import { PERMISSIONS, type Permission } from "../agents/profile.ts";
import { PRESETS } from "../config.ts";
import { SluiceError } from "../errors.ts";
import { type Draft, draftJob } from "../input/job.ts";
import type { Job, JobInput, JobSpec } from "../job.ts";
import { INPUT_KEYS } from "../schema/job.ts";
import { isInside } from "./path.ts";
import { confine, excessOf, isBelow, levelOfRuns, lower, mergeWayOf, type Reach, type RunBounds } from "./run-bounds.ts";

const CONFIG = {
	...PRESETS.loops,
	lanes: { ...PRESETS.loops.lanes },
	repos: { app: { max: null, prefix: null }, web: { max: null, prefix: null }, late: { max: null, prefix: null, merge: "mr" as const } },
	accounts: { work: { max: null, max_api_calls: 1 }, home: { max: null, max_api_calls: 1 } },
};
const LANE = Object.keys(CONFIG.lanes)[0] as string;

const REACH: Reach = {
	repo: "app",
	folders: ["/w/7", "/real/w/7"],
	env: { TOPIC: "x", PATH: "/bin" },
	usual_env: ["PATH", "LC_*", "*_proxy"],
	allow: ["npm test"],
	accounts: ["work"],
	account: "work",
	branches: ["sluice/7"],
	base_branch: "feature",
	merge: "mr",
	produces: ["sentinel:mine", "file:a"],
	host_labels: ["fast"],
};
const bounds = (level: Permission, more: Partial<RunBounds> = {}): RunBounds => ({ job: 7, level, priority: 5, reach: REACH, ...more });
const AGENT: JobInput = { agent: "claude", prompt: "go", lane: LANE };
const draft = (input: JobInput): Draft => draftJob({ lane: LANE, ...input }, CONFIG, { now: 0, force: false });
const excess = (input: JobInput, within: RunBounds) => {
	const { job, spec } = draft(input);
	return excessOf(job, spec, within).map(({ field }) => field);
};

/** Fields that decide when a job runs and what its prompt says, not what it may do. A new field is listed here, or gets a rule. */
const FREE = [
	...["name", "title", "agent", "prompt", "after", "needs", "on_missing", "locks", "serial", "parallelizable", "lane", "batch"],
	...["runnable_at", "deadline", "retry", "timeout", "stall_timeout", "hold", "requires_approval", "pinned_head"],
	// Their rule is in scheduler/operations/add.ts.
	...["unique", "parent"],
	...["parent_gate", "item", "source", "phase", "recipe", "vars", "args", "mode", "raw", "owned", "no_merge", "input_patch", "uses"],
	...["model", "expect", "commit", "trigger"],
];

test("every field has a rule, or is free", () => {
	const nothing: Reach = {
		...{ folders: [], env: {}, usual_env: [], allow: [], accounts: [], branches: [], produces: [] },
		...{ merge: "local", host_labels: ["own"] },
	};
	const within: RunBounds = { job: 7, level: "ask", priority: 0, owner: "bob", reach: nothing };
	const config = { ...CONFIG, resources: { build: 2 } };
	const isBounded = (key: (typeof INPUT_KEYS)[number]): boolean => {
		const { good, with: base = { command: ["make"] } } = FIELDS[key];
		const wanted = key === "permission" || key === "may_add" ? "full" : good;
		const { job, spec } = draftJob({ ...base, [key]: wanted }, config, { now: 0, force: false });
		if (excessOf(job, spec, within).some(({ field }) => field === key || field.startsWith(`${key}.`))) return true;
		const valueNow = () => JSON.stringify(new Map<string, unknown>(Object.entries({ ...job, ...spec })).get(key));
		const before = valueNow();
		lower(job, spec, within);
		return valueNow() !== before;
	};
	expect(INPUT_KEYS.filter((key) => !isBounded(key))).toEqual(FREE);
});

describe("too much", () => {
	test.each<[input: JobInput, level: Permission, fields: string[]]>([
		[AGENT, "ask", []],
		[{ ...AGENT, permission: "ask" }, "ask", []],
		[{ ...AGENT, permission: "edit" }, "ask", ["permission"]],
		[{ ...AGENT, permission: "full" }, "edit", ["permission"]],
		[{ ...AGENT, permission: "full" }, "full", []],
		[{ ...AGENT, may_add: "full", permission: "full" }, "edit", ["permission", "may_add"]],
		[{ ...AGENT, may_add: "edit" }, "ask", ["may_add"]],
		[{ ...AGENT, may_add: "ask" }, "ask", []],
		[{ command: ["true"] }, "edit", ["command"]],
		[{ command: ["true"] }, "full", []],
		[{ command: ["true"], may_add: "full" }, "full", []],
		[{ payload: 1 }, "edit", ["payload"]],
		[{ payload: 1 }, "full", []],
		[{ ...AGENT, repo: "app", conditions: ["clean_worktree"] }, "edit", []],
		[{ ...AGENT, conditions: [{ kind: "command", argv: ["id"] }] }, "edit", ["conditions"]],
		[{ ...AGENT, repo: "app" }, "edit", []],
		[{ ...AGENT, repo: "web" }, "edit", ["repo"]],
		[{ ...AGENT, repo: "web" }, "full", []],
		[{ ...AGENT, cwd: "/w/7/below" }, "edit", []],
		[{ ...AGENT, cwd: "/real/w/7" }, "edit", []],
		[{ ...AGENT, cwd: "/w/70" }, "edit", ["cwd"]],
		[{ ...AGENT, cwd: "/w/7/../8" }, "edit", ["cwd"]],
		[{ ...AGENT, cwd: "w/7" }, "edit", ["cwd"]],
		[{ ...AGENT, env: { TOPIC: "x", PATH: "/evil", LC_ALL: "C", http_proxy: "x" } }, "edit", []],
		[{ ...AGENT, env: { TOPIC: "y" } }, "edit", ["env.TOPIC"]],
		[{ ...AGENT, env: { LD_PRELOAD: "x" } }, "edit", ["env.LD_PRELOAD"]],
		[{ ...AGENT, env: { LD_PRELOAD: "x" } }, "full", []],
		[{ ...AGENT, allow: ["npm test", "npm test -- x"] }, "edit", []],
		[{ ...AGENT, allow: ["npm"] }, "edit", ["allow"]],
		[{ ...AGENT, allow: ["npm tests"] }, "edit", ["allow"]],
		[{ ...AGENT, account: "work" }, "edit", []],
		[{ ...AGENT, account: "home" }, "edit", ["account"]],
		[{ ...AGENT, repo: "app", worktree: "sluice/7" }, "edit", []],
		[{ ...AGENT, repo: "app", worktree: "main" }, "edit", ["worktree"]],
		[{ ...AGENT, repo: "app", merge: "local" }, "edit", []],
		[{ ...AGENT, repo: "app", merge: "direct" }, "edit", ["merge"]],
		[{ ...AGENT, repo: "app", merge: "direct", no_merge: true }, "edit", []],
		[{ ...AGENT, repo: "app", base_branch: "feature" }, "edit", []],
		[{ ...AGENT, repo: "app", base_branch: "sluice/7" }, "edit", []],
		[{ ...AGENT, repo: "app", base_branch: "release" }, "edit", ["base_branch"]],
		[{ ...AGENT, repo: "app", base_branch: "release", no_merge: true }, "edit", []],
		[{ ...AGENT, produces: ["sentinel:mine", "file:b"] }, "edit", []],
		[{ ...AGENT, produces: ["custom:approved:all"] }, "edit", ["produces"]],
		[{ ...AGENT, priority: 1_000_000 }, "edit", []],
		[{ ...AGENT, owner: "ann" }, "edit", []],
	])("%j at %s: %j", (input, level, fields) => {
		expect(excess(input, bounds(level))).toEqual(fields);
	});

	test("another owner than that of the run's job, at every level", () => {
		for (const level of PERMISSIONS) expect(excess({ ...AGENT, owner: "bob" }, bounds(level, { owner: "ann" }))).toEqual(["owner"]);
		expect(excess({ ...AGENT, owner: "ann" }, bounds("ask", { owner: "ann" }))).toEqual([]);
	});

	test("a refusal names the job that sets the limit, the limit, and what to type", () => {
		const { job, spec } = draft({ ...AGENT, permission: "full" });
		const refuse = () => confine(job, spec, bounds("edit"), (key) => `jobs[3].${key}`);
		expect(refuse).toThrow("jobs[3].permission: runs of job 7 may add jobs with permission edit at most, not full");
		expect(refuse).toThrow(SluiceError);
		try {
			refuse();
		} catch (error) {
			expect(error).toMatchObject({ code: "forbidden", field: "jobs[3].permission" });
			expect((error as SluiceError).hint).toBe(
				"ask for less; job 7 cannot be given more, but its owner can add a new job for its work: sluice add --may-add full …",
			);
		}
	});

	test.each<[JobInput, string]>([
		[
			{ command: ["true"] },
			"command: runs of job 7 may not add a command. It could do everything; the jobs that they add may have permission ask at most",
		],
		[
			{ payload: 1 },
			"payload: runs of job 7 may not add a job for an outside worker. It could do everything; the jobs that they add may have permission ask at most",
		],
		[
			{ ...AGENT, conditions: [{ kind: "command", argv: ["id"] }] },
			"conditions: runs of job 7 may not add a command as a condition. It could do everything; the jobs that they add may have permission ask at most",
		],
	])("%j is refused in plain words", (input, message) => {
		const { job, spec } = draft(input);
		expect(() => confine(job, spec, bounds("ask"), (key) => key)).toThrow(message);
	});
});

describe("what is not named", () => {
	const lowered = (input: JobInput, within: RunBounds) => {
		const { job, spec } = draft(input);
		const warnings = lower(job, spec, within);
		return { job, spec, warnings };
	};

	test("is the run's own at most", () => {
		const { job, spec, warnings } = lowered(
			{ ...AGENT, env: { PATH: "/evil", LC_ALL: "C", TOPIC: "x" }, host_labels: ["big"] },
			bounds("ask"),
		);
		expect(spec).toMatchObject({ permission: "ask", cwd: "/w/7", env: { PATH: "/bin", TOPIC: "x" } });
		expect(spec.env).toEqual({ PATH: "/bin", TOPIC: "x" });
		expect(job).toMatchObject({ account: "work", host_labels: ["big", "fast"] });
		expect(warnings).toEqual([]);
		expect(lowered(AGENT, bounds("edit")).spec.permission).toBeUndefined();
		expect(lowered({ ...AGENT, repo: "app" }, bounds("edit")).spec).toMatchObject({ merge: "mr", base_branch: "feature" });
		expect(lowered({ ...AGENT, repo: "app" }, bounds("edit", { reach: { ...REACH, merge: "none" } })).spec.no_merge).toBe(true);
	});

	test("is unchanged at full, except for the priority, with a warning", () => {
		const { job, spec, warnings } = lowered({ command: ["true"], priority: 9 }, bounds("full"));
		expect([job.priority, job.host_labels, spec.cwd]).toEqual([5, undefined, undefined]);
		expect(warnings).toEqual(["priority 9 is lowered to 5, the priority of job 7, whose run adds it"]);
		expect(lowered({ command: ["true"] }, bounds("full", { priority: -2 }))).toMatchObject({ job: { priority: -2 }, warnings: [] });
		expect(lowered({ command: ["true"], priority: -9 }, bounds("full")).job.priority).toBe(-9);
	});
});

test("the level of a job's runs", () => {
	expect(levelOfRuns("agent", {})).toBe("edit");
	expect(levelOfRuns("agent", { permission: "ask" })).toBe("ask");
	expect(levelOfRuns("agent", { permission: "ask" }, "full")).toBe("full");
	expect(levelOfRuns("agent", { permission: "full" }, "edit")).toBe("full");
	expect(levelOfRuns("agent", { permission: "full", may_add: "ask" }, "full")).toBe("ask");
	expect(levelOfRuns("agent", { permission: "ask", may_add: "full" })).toBe("full");
	expect(levelOfRuns("command", {})).toBe("full");
	expect(levelOfRuns("command", { may_add: "edit" })).toBe("edit");
});

test("how a job's branch is merged", () => {
	expect(mergeWayOf({}, {}, CONFIG)).toBe("none");
	expect(mergeWayOf({ repo: "app" }, {}, CONFIG)).toBe("direct");
	expect(mergeWayOf({ repo: "late" }, {}, CONFIG)).toBe("mr");
	expect(mergeWayOf({ repo: "late" }, { no_merge: true, merge: "direct" }, CONFIG)).toBe("none");
});

test("a folder is inside another by path segments, not by characters", () => {
	expect(isInside({ path: "/a/b", folder: "/a" })).toBe(true);
	expect(isInside({ path: "/a//./b/", folder: "/a/" })).toBe(true);
	expect(isInside({ path: "/ab", folder: "/a" })).toBe(false);
	expect(isInside({ path: "/a/../b", folder: "/a" })).toBe(false);
	expect(isInside({ path: "a/b", folder: "/a" })).toBe(false);
	expect(isInside({ path: "/x", folder: "/" })).toBe(true);
	expect([isBelow({ id: 3 }, 3), isBelow({ id: 4, path: [1, 3] }, 3), isBelow({ id: 1 }, 3)]).toEqual([true, true, false]);
});

describe("over chains of jobs that runs add", () => {
	type Rule = (job: Job, spec: JobSpec, within: RunBounds) => void;
	const RULE: Rule = (job, spec, within) => void confine(job, spec, within, (key) => key);

	const level = fc.constantFrom(...PERMISSIONS);
	const input = fc.record(
		{
			kind: fc.constantFrom("agent" as const, "agent" as const, "command" as const, "payload" as const),
			permission: level,
			may_add: level,
			repo: fc.constantFrom("app", "web"),
			cwd: fc.constantFrom("/w/7", "/w/7/x", "/w", "/"),
			env: fc.constantFrom({ TOPIC: "x" }, { EVIL: "1" }, { PATH: "/evil" }),
			priority: fc.integer({ min: -9, max: 9 }),
			merge: fc.constantFrom("direct" as const, "mr" as const, "local" as const),
			base_branch: fc.constantFrom("feature", "release"),
			condition: fc.boolean(),
		},
		{ requiredKeys: ["kind"] },
	);
	type Wish = typeof input extends fc.Arbitrary<infer T> ? T : never;

	function inputOf({ kind, permission, condition, ...rest }: Wish): JobInput {
		const plain = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as JobInput;
		if (plain.repo === undefined) for (const key of ["merge", "base_branch"] as const) delete plain[key];
		if (condition) plain.conditions = [{ kind: "command", argv: ["id"] }];
		if (kind === "command") return { ...plain, command: ["true"] };
		if (kind === "payload") return { ...plain, payload: 1 };
		return { ...plain, agent: "claude", prompt: "go", ...(permission === undefined ? {} : { permission }) };
	}

	/** The limits for the runs of an added job, as api/run-bounds.ts reads them. */
	const boundsOf = ({ job, spec }: Pick<Draft, "job" | "spec">, before: RunBounds): RunBounds => ({
		job: before.job + 1,
		level: levelOfRuns(job.kind, spec),
		priority: job.priority,
		reach: {
			...REACH,
			repo: job.repo,
			folders: [job.repo === undefined ? (spec.cwd ?? "/root") : `/w/${before.job + 1}`],
			env: spec.env ?? {},
			accounts: job.account === undefined ? [] : [job.account],
			account: job.account,
			base_branch: spec.base_branch,
			merge: mergeWayOf(job, spec, CONFIG),
			produces: [],
		},
	});

	/** The jobs that each run of the chain was able to add. */
	function walk(rule: Rule, root: RunBounds, wishes: readonly Wish[]): Pick<Draft, "job" | "spec">[] {
		const got: Pick<Draft, "job" | "spec">[] = [];
		let now = root;
		for (const wish of wishes) {
			const { job, spec } = draft(inputOf(wish));
			try {
				rule(job, spec, now);
			} catch (error) {
				if (!(error instanceof SluiceError)) throw error;
				continue;
			}
			got.push({ job, spec });
			now = boundsOf({ job, spec }, now);
		}
		return got;
	}

	const rank = (one: Permission) => PERMISSIONS.indexOf(one);
	/** Written independently of the rule: what no descendant of a bounded run may ever be. */
	const isTooMuch = ({ job, spec }: Pick<Draft, "job" | "spec">, root: RunBounds): boolean => {
		if (job.priority > root.priority) return true;
		if (root.level === "full") return false;
		return (
			job.kind !== "agent" ||
			rank(spec.permission ?? "edit") > rank(root.level) ||
			rank(spec.may_add ?? "ask") > rank(root.level) ||
			(job.conditions ?? []).some(({ kind }) => kind === "command") ||
			(job.repo !== undefined && job.repo !== "app") ||
			(spec.env?.EVIL ?? spec.env?.PATH) !== undefined ||
			(job.repo === undefined && !/^\/w\/\d+(?:\/x)?$/.test(spec.cwd ?? "")) ||
			(!spec.no_merge && (spec.merge === "direct" || spec.base_branch === "release"))
		);
	};
	const REACHED: Reach = { ...REACH, env: { TOPIC: "x" } };
	const property = (rule: Rule) =>
		fc.property(level, fc.array(input, { maxLength: 6 }), (at, wishes) => {
			const root = bounds(at, { reach: REACHED });
			return walk(rule, root, wishes).every((one) => !isTooMuch(one, root));
		});

	test("no descendant ever exceeds the first run's job", () => {
		fc.assert(property(RULE), { numRuns: 20_000 });
	});

	test.each<[bug: string, rule: Rule]>([
		["nothing is bounded", () => {}],
		["may_add is not looked at", (job, spec, within) => RULE(job, { ...spec, may_add: undefined } as never, within)],
		["a command counts as what its agent would", (job, spec, within) => RULE({ ...job, kind: "agent" }, spec, within)],
		["what is not named is left as it is", (job, spec, within) => void (excessOf(job, spec, within).length > 0 && RULE(job, spec, within))],
		["conditions are not looked at", (job, spec, within) => RULE({ ...job, conditions: undefined }, spec, within)],
		["the priority is not looked at", (job, spec, within) => RULE(job, spec, { ...within, priority: 1_000_000 })],
		["the repo is not looked at", (job, spec, within) => RULE(job, spec, { ...within, reach: { ...within.reach, repo: job.repo } })],
		["edit counts as full", (job, spec, within) => RULE(job, spec, within.level === "edit" ? { ...within, level: "full" } : within)],
	])("the property finds a planted mistake: %s", (_bug, rule) => {
		expect(fc.check(property(rule), { numRuns: 20_000 }).failed).toBe(true);
	});
});
