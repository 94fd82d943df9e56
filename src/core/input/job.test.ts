// From input to a job: every field in its documented forms, what each becomes, and what is refused with which message.

import { describe, expect, test } from "vitest";
import { type Config, DEFAULTS, LANE_DEFAULT, NO_RETRY, PRESETS } from "../config.ts";
import { SluiceError } from "../errors.ts";
import { INPUT_KEYS, type JobInput } from "../schema/job.ts";
import { type Draft, draftJob } from "./job.ts";

const NOW = 1_000_000;
const CONFIG: Config = {
	...DEFAULTS,
	lanes: { default: LANE_DEFAULT, code: LANE_DEFAULT, closed: { ...LANE_DEFAULT, max: 0 } },
	repos: {
		web: { max: null, prefix: "WEB-" },
		api: { max: null, prefix: "API-" },
		any: { max: null, prefix: null },
		kept: { max: null, prefix: null, merge: "local" },
		label: { max: null, prefix: null, merge: "none" },
		asked: { max: null, prefix: null, merge: "mr" },
	},
	accounts: { work: { max: null, max_api_calls: 1 } },
	resources: { build: 2 },
};
const draft = (input: unknown, config = CONFIG, force = false): Draft => draftJob(input, config, { now: NOW, force });
const made = (more: JobInput, config = CONFIG) => draft(more.agent === undefined ? { command: ["make"], ...more } : more, config);

function refusal(input: unknown, config = CONFIG, force = false): SluiceError {
	try {
		draft(input, config, force);
	} catch (error) {
		if (error instanceof SluiceError) return error;
		throw error;
	}
	throw new Error("nothing was refused");
}
const refused = (more: object, config = CONFIG) => refusal({ command: ["make"], ...more }, config);

test("files that a job without a repo needs or makes are those of its folder", () => {
	const needs = ["file:a", "file:/b", "custom:c:d"];
	expect(made({ needs, cwd: "/x/" }).job.needs).toEqual(["file:/x/a", "file:/b", "custom:c:d"]);
	expect(made({ needs }).job.needs).toEqual(needs);
	expect(made({ needs, cwd: "/x", repo: "any" }).job.needs).toEqual(needs);
});

describe("kinds", () => {
	test.each([
		[{ command: ["make"] }, "command"],
		[{ command: ["make"], payload: {}, prompt: "x" }, "command"],
		[{ agent: "claude", prompt: "do it" }, "agent"],
		[{ agent: "claude", args: "do it" }, "agent"],
		[{ agent: "claude", recipe: "fix" }, "agent"],
		[{ agent: "claude", payload: null }, "agent"],
		[{ payload: { a: 1 } }, "payload"],
		[{ payload: null }, "payload"],
	])("%j", (input, kind) => {
		expect(draft(input).job.kind).toBe(kind);
	});

	test.each([
		[{}, "command"],
		[{ prompt: "x" }, "command"],
		[{ command: ["make"], agent: "claude" }, "command"],
		[{ agent: "claude" }, "prompt"],
		[{ command: [] }, "command"],
		[{ command: [""] }, "command"],
		[{ command: "make" }, "command"],
	])("%j is none", (input, field) => {
		expect(refusal(input)).toMatchObject({ code: "invalid", field });
	});

	test.each([null, undefined, [], "make", 5])("%j is no job", (input) => {
		expect(refusal(input)).toMatchObject({ code: "invalid", field: "job" });
	});
});

describe("what a field becomes", () => {
	const job = (more: JobInput, config = CONFIG) => made(more, config).job;

	test("a job with nothing said", () => {
		expect(job({})).toEqual({
			id: 0,
			status: "queued",
			kind: "command",
			lane: "default",
			trigger: "manual",
			priority: 0,
			created_at: NOW,
			runnable_at: NOW,
			attempt: 0,
			parked_on: "",
			bucket: 0,
		});
		expect(made({}).spec).toEqual({ version: 1, enqueued_at: NOW, command: ["make"] });
	});

	test.each([
		[{ name: "build" }, { name: "build" }],
		[{ batch: "b1" }, { batch: "b1" }],
		[{ lane: "code" }, { lane: "code" }],
		[{ priority: -5 }, { priority: -5 }],
		[{ runnable_at: 5 }, { runnable_at: 5 }],
		[{ runnable_at: "1970-01-01T00:00:01Z" }, { runnable_at: 1000 }],
		[{ runnable_at: 5, deadline: 5 }, { deadline: 5 }],
		[{ deadline: NOW }, { deadline: NOW }],
		[{ trigger: "cron" }, { trigger: "cron" }],
		[{ owner: "ann" }, { owner: "ann" }],
		[{ repo: "web" }, { repo: "web", will_merge: true, merge_status: "none" }],
		[{ account: "work" }, { account: "work" }],
		[{ host_labels: ["gpu", "gpu"] }, { host_labels: ["gpu"] }],
		[{ uses: { build: 2 } }, { uses: { build: 2 } }],
		[{ item: "7" }, { item: "inline:7" }],
		[{ item: "7", source: "cards" }, { item: "cards:7" }],
		[{ phase: "review" }, { phase: "review" }],
		[{ needs: ["file:a", "file:a"] }, { needs: ["file:a"] }],
		[{ repo: "any", produces: ["branch:x"] }, { produces: ["branch:x"] }],
		[{ on_missing: "wait" }, { on_missing: "wait" }],
		[{ repo: "any", pinned_head: { branch: "main", commit: "abcdef" } }, { pinned_head: { branch: "main", commit: "abcdef" } }],
		[{ cwd: "/w", pinned_head: { branch: "main", commit: "abcdef" } }, { pinned_head: { branch: "main", commit: "abcdef", folder: "/w" } }],
		[{ repo: "any", conditions: ["clean_worktree"] }, { conditions: [{ kind: "clean_worktree" }] }],
		[{ repo: "any", conditions: ["branch_exists:main"] }, { conditions: [{ kind: "branch_exists", branch: "main" }] }],
		[{ conditions: [{ kind: "command", argv: ["true"] }] }, { conditions: [{ kind: "command", argv: ["true"] }] }],
		[{ requires_approval: true }, { approval: "needed" }],
		[{ retry: 3 }, { retry: { ...NO_RETRY, max: 3 } }],
		// Retries that are asked for cover every failure, whatever agents are retried after by default.
		[{ agent: "claude", prompt: "x", retry: 1 }, { retry: { ...NO_RETRY, max: 1 } }],
		[{ agent: "claude", prompt: "x", retry: { max: 1 } }, { retry: { ...NO_RETRY, max: 1 } }],
		[{ retry: { max: 1, base_ms: "5s", on: ["lost"] } }, { retry: { ...NO_RETRY, max: 1, base_ms: 5000, on: ["lost"] } }],
	] as [JobInput, object][])("%j", (more, fields) => {
		expect(job(more)).toMatchObject(fields);
	});

	test.each([
		[{ deadline: null }, "deadline"],
		[{ requires_approval: false }, "approval"],
		[{ host_labels: [] }, "host_labels"],
		[{ uses: {} }, "uses"],
		[{ needs: [] }, "needs"],
		[{ produces: [] }, "produces"],
		[{ conditions: [] }, "conditions"],
		[{ locks: [] }, "locks"],
		[{ on_missing: "block" }, "on_missing"],
		[{ parallelizable: true }, "locks"],
		[{ source: "cards" }, "item"],
	] as [JobInput, string][])("%j leaves %s out", (more, field) => {
		expect(field in job(more)).toBe(false);
	});

	test.each([
		[{ repo: "web", no_merge: true }, undefined],
		[{ repo: "web", merge: "local" }, undefined],
		[{ repo: "web", merge: "direct" }, true],
		[{ repo: "web", merge: "mr" }, true],
		[{}, undefined],
		[{ repo: "kept" }, undefined],
		[{ repo: "kept", merge: "direct" }, true],
		[{ repo: "asked" }, true],
		[{ repo: "label" }, undefined],
		[{ repo: "label", merge: "direct" }, undefined],
	] as [JobInput, true | undefined][])("%j merges: %s", (more, will) => {
		expect(job(more).will_merge).toBe(will);
	});

	test("the repo's way to merge is recorded", () => {
		expect(made({ repo: "kept" }).spec).toMatchObject({ merge: "local" });
		expect(made({ repo: "label" }).spec).toMatchObject({ no_merge: true });
	});

	test("an undefined field is one that was not given", () => {
		const given = Object.fromEntries(INPUT_KEYS.map((key) => [key, undefined]));
		expect(draft({ ...given, command: ["make"] })).toEqual(made({}));
	});
});

describe("locks", () => {
	const keys = (more: JobInput) => (made(more).job.locks ?? []).map((lock) => `${lock.key} ${lock.mode}`);

	test.each([
		[{ locks: ["db"] }, ["db exclusive"]],
		[{ locks: ["db:shared"] }, ["db shared"]],
		[{ locks: ["a:b:shared"] }, ["a:b shared"]],
		[{ locks: ["a:b"] }, ["a:b exclusive"]],
		[{ locks: [{ key: "db" }] }, ["db exclusive"]],
		[{ locks: [{ key: "db", mode: "shared" }] }, ["db shared"]],
		[{ locks: ["z", "a", "m:shared"] }, ["a exclusive", "m shared", "z exclusive"]],
		[{ locks: ["db:shared", "db"] }, ["db exclusive"]],
		[{ locks: ["db", "db:shared"] }, ["db exclusive"]],
		[{ serial: "deploy" }, ["serial:deploy exclusive"]],
		[{ parallelizable: false }, ["serial:inline::default exclusive"]],
		[{ parallelizable: false, item: "7", source: "cards", phase: "review", lane: "code" }, ["serial:cards:review:code exclusive"]],
		[{ parallelizable: false, source: "cards" }, ["serial:cards::default exclusive"]],
		[{ worktree: "feature/x", repo: "web" }, ["branch:web:feature/x exclusive"]],
		[{ worktree: "feature/x" }, ["branch::feature/x exclusive"]],
	] as [JobInput, string[]][])("%j", (more, expected) => {
		expect(keys(more)).toEqual(expected);
	});
});

describe("after", () => {
	test.each([
		[[7], [{ ref: 7, policy: "success" }]],
		[["7"], [{ ref: 7, policy: "success" }]],
		[["build"], [{ ref: "build", policy: "success" }]],
		[["build:failure"], [{ ref: "build", policy: "failure" }]],
		[["7:any"], [{ ref: 7, policy: "any" }]],
		[[{ job: "build", policy: "merged" }], [{ ref: "build", policy: "merged" }]],
		[[{ job: 7 }], [{ ref: 7, policy: "success" }]],
		[[], []],
	] as [JobInput["after"], unknown[]][])("%j", (after, edges) => {
		expect(made({ after: after ?? [] }).after).toEqual(edges);
	});

	test.each([
		["build", "after"],
		[{}, "after"],
		[[null], "after[0]"],
		[[1, 0], "after[1]"],
		[[-1], "after[0]"],
		[[1.5], "after[0]"],
		[[""], "after[0]"],
		[["a b"], "after[0]"],
		[["build:sucess"], "after[0].policy"],
		[[{ job: 7, policy: "sucess" }], "after[0].policy"],
		[[{ id: 7 }], "after[0].id"],
		[[{}], "after[0]"],
		[[7, "7"], "after[1]"],
		[["a", { job: "a" }], "after[1]"],
	])("%j is refused", (after, field) => {
		expect(refused({ after }).field).toBe(field);
	});
});

describe("spec", () => {
	const given: JobInput = {
		title: "A title",
		prompt: "many\nlines",
		payload: { a: [1, null] },
		base_branch: "main",
		worktree: "w",
		merge: "mr",
		no_merge: false,
		input_patch: "diff --git a/x b/x\n",
		cwd: "/tmp",
		env: { A: "1", _B: "" },
		model: "opus",
		permission: "full",
		commit: "never",
		args: "be quick",
		vars: { "a.b-c": "1" },
		recipe: "fix",
		mode: "ralph",
		owned: true,
		raw: false,
	};

	test("is what was given", () => {
		expect(made(given).spec).toEqual({ version: 1, enqueued_at: NOW, command: ["make"], ...given });
		expect(made({ timeout: "1h", stall_timeout: 5 }).spec).toMatchObject({ timeout_ms: 3_600_000, stall_timeout_ms: 5 });
	});

	test.each([
		[{ title: "a\nb" }, "title"],
		[{ env: { "A B": "1" } }, "env.A B"],
		[{ env: { A: 1 } }, "env.A"],
		[{ env: JSON.parse('{"__proto__": "1"}') }, "env.__proto__"],
		[{ vars: { "": "1" } }, "vars."],
		[{ merge: "rebase" }, "merge"],
		[{ mode: "ralf" }, "mode"],
		[{ permission: "FULL" }, "permission"],
		[{ command: ["a", 5] }, "command[1]"],
		[{ base_branch: "--x" }, "base_branch"],
		[{ worktree: "a..b" }, "worktree"],
		[{ payload: { a: () => 1 } }, "payload.a"],
		[{ timeout: "5 minutes" }, "timeout"],
		[{ model: "-x" }, "model"],
		[{ recipe: "../x" }, "recipe"],
	])("%j is refused", (more, field) => {
		expect(refused(more)).toMatchObject({ code: "invalid", field });
	});

	test("has limits, also for the names of variables", () => {
		expect(refused({ env: Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`A${index}`, ""])) }).code).toBe("limit");
		expect(refused({ command: ["a", "x".repeat(200_000)] })).toMatchObject({ code: "limit", field: "command[1]" });
		const endless = refused({ env: { ["A".repeat(1_000_000)]: "1" } });
		expect(endless.field?.startsWith("env")).toBe(true);
		expect(endless.field?.length).toBeLessThan(500);
	});
});

describe("impossible input, with what to do", () => {
	test.each([
		[{ lane: "cod" }, { code: "not_found", field: "lane", hint: 'did you mean "code"? or make it: sluice lane set cod --max N' }],
		[
			{ lane: "zzzzzzzz" },
			{ code: "not_found", field: "lane", hint: "known: default, code, closed; or make it: sluice lane set zzzzzzzz --max N" },
		],
		[{ lane: "toString" }, { code: "not_found", field: "lane" }],
		[{ lane: "closed" }, { code: "impossible", field: "lane", hint: "raise it: sluice lane set closed --max N, or add it with --force" }],
		[{ repo: "wb" }, { code: "not_found", field: "repo", hint: 'did you mean "web"?' }],
		[{ account: "wrk" }, { code: "not_found", field: "account", hint: 'did you mean "work"?' }],
		[{ uses: { biuld: 1 } }, { code: "not_found", field: "uses.biuld", hint: 'did you mean "build"?' }],
		[
			{ uses: { build: 3 } },
			{ code: "impossible", field: "uses.build", hint: "raise it: sluice config set resources.build N, or add it with --force" },
		],
		[{ uses: { build: 0 } }, { code: "invalid", field: "uses.build" }],
		[
			{ runnable_at: 9, deadline: 8 },
			{ code: "invalid", field: "deadline", hint: "set a later deadline, or an earlier start" },
		],
		[{ deadline: NOW - 1 }, { code: "invalid", field: "deadline" }],
		[
			{ item: "API-7", repo: "web" },
			{ code: "forbidden", field: "item", hint: "its repo is api: use --repo api, or --force" },
		],
		[
			{ item: "7", repo: "web" },
			{ code: "forbidden", field: "item", hint: "no repo has its prefix; --force adds it all the same" },
		],
		[{ comand: ["x"] }, { code: "unknown_key", field: "comand", hint: 'did you mean "command"?' }],
		[{ needs: ["fil:a"] }, { code: "invalid", field: "needs[0]" }],
		[{ produces: ["file:a", 5] }, { code: "invalid", field: "produces[1]" }],
		[{ pinned_head: { branch: "main", commit: "XYZ" } }, { code: "invalid", field: "pinned_head.commit" }],
		[{ pinned_head: { branch: "main" } }, { code: "invalid", field: "pinned_head.commit" }],
		[{ pinned_head: { branch: "main", comit: "abcd" } }, { code: "unknown_key", field: "pinned_head.comit" }],
		[{ conditions: ["clean"] }, { code: "invalid", field: "conditions[0]" }],
		[{ conditions: [{ kind: "command" }] }, { code: "invalid", field: "conditions[0].argv" }],
		[{ locks: ["-x"] }, { code: "invalid", field: "locks[0].key" }],
		[{ locks: [{ key: "a", mode: "share" }] }, { code: "invalid", field: "locks[0].mode", hint: 'did you mean "shared"?' }],
		[{ unique: {} }, { code: "invalid", field: "unique.key" }],
		[{ unique: { key: "k", policy: "skp" } }, { code: "invalid", field: "unique.policy", hint: 'did you mean "skip"?' }],
		[{ unique: { key: "k", window_ms: -1 } }, { code: "invalid", field: "unique.window_ms" }],
		[{ retry: { maxx: 1 } }, { code: "unknown_key", field: "retry.maxx", hint: 'did you mean "max"?' }],
		[{ parent: 0 }, { code: "invalid", field: "parent" }],
		[{ parent_gate: "sucess" }, { code: "invalid", field: "parent_gate" }],
		[{ host_labels: null }, { code: "invalid", field: "host_labels" }],
		[{ host_labels: "" }, { code: "invalid", field: "host_labels" }],
		[{ host_labels: { length: 0 } }, { code: "invalid", field: "host_labels" }],
		[{ priority: 1_000_001 }, { code: "invalid", field: "priority" }],
	])("%j", (more, error) => {
		expect(refused(more)).toMatchObject(error);
	});

	test("an agent that is not on the list", () => {
		const config = { ...CONFIG, agents: ["claude"] };
		expect(refusal({ agent: "cluade", prompt: "x" }, config)).toMatchObject({ code: "not_found", hint: 'did you mean "claude"?' });
		expect(draft({ agent: "claude", prompt: "x" }, config).job.agent).toBe("claude");
	});

	test("force accepts a job that could never run, but not invalid input", () => {
		expect(draft({ command: ["x"], lane: "closed", uses: { build: 9 }, item: "7", repo: "web" }, CONFIG, true).job.lane).toBe("closed");
		expect(refusal({ command: ["x"], lane: "nowhere" }, CONFIG, true).code).toBe("not_found");
	});

	test("inside a manifest the path leads to the job", () => {
		expect(() => draftJob({ command: ["x"], retry: { maxx: 1 } }, CONFIG, { now: 0, force: false, field: "jobs[3]" })).toThrow(
			expect.objectContaining({ field: "jobs[3].retry.maxx" }),
		);
	});
});

describe("presets", () => {
	test("a job without a lane goes to default, or to the first there is", () => {
		expect(made({}).job.lane).toBe("default");
		expect(made({}, PRESETS.cards).job.lane).toBe("implement");
	});
	test("loops: awaits its producers, and its parent's success", () => {
		expect(made({}, PRESETS.loops).job.on_missing).toBe("wait");
		expect(made({}, PRESETS.loops).parent_gate).toBe(true);
		expect(made({ parent_gate: "none", on_missing: "block" }, PRESETS.loops)).toMatchObject({ parent_gate: false });
	});
});

test("a caller's later changes do not affect the draft", () => {
	const input = {
		command: ["make"],
		payload: { a: { b: 1 } },
		env: { A: "1" },
		locks: [{ key: "k" }],
		needs: ["file:a"],
		retry: { on: ["lost" as const] },
		cwd: "/w",
		pinned_head: { branch: "main", commit: "abcd" },
		conditions: [{ kind: "command" as const, argv: ["true"] }],
		uses: { build: 1 },
		host_labels: ["gpu"],
	} satisfies JobInput;
	const one = draft(input);
	const before = JSON.stringify(one);
	input.command.push("all");
	input.payload.a.b = 2;
	input.env.A = "2";
	input.locks[0]!.key = "other";
	input.needs.push("file:b");
	input.retry.on.pop();
	input.pinned_head.branch = "x";
	input.conditions[0]!.argv[0] = "false";
	input.uses.build = 2;
	input.host_labels.push("x");
	expect(JSON.stringify(one)).toBe(before);
});
