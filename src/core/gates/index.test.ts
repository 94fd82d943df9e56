// The gates together: the first refusal parks, any verdict ends the job, `why` lists all reasons in order.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeBucket, worldAt } from "../../../test/make/gates.ts";
import { makeFacts, makeJob } from "../../../test/make/job.ts";
import { bucketOf } from "../bucket.ts";
import { DEFAULTS } from "../config.ts";
import { type Job, type Lock, STATUSES } from "../job.ts";
import type { HostRecord } from "../limits-view.ts";
import { GATES, REASON_CODES } from "../reason.ts";
import type { JobFacts } from "./gate.ts";
import { allReasons, decide, shut } from "./index.ts";
import { BUCKET_GATES, FACT_GATES, factKeys, JOB_GATES } from "./job-gates.ts";

const NOW = 1000;

const facts = (more: Partial<JobFacts> = {}): JobFacts => makeFacts({ now: NOW, ...more });
const world = worldAt(NOW);
const here: HostRecord = { name: "h", labels: [], repos: null, heartbeat_at: 0, state: "live" };
const pausing = (...scopes: string[]) =>
	new Map(scopes.map((scope) => [`paused/${scope}`, { kind: "paused" as const, scope, by: "ann", since: 7, reason: "" }]));

test("the order is the rule", () => {
	expect([...JOB_GATES, ...BUCKET_GATES].map((gate) => gate.name)).toEqual(GATES.slice(0, 15));
	expect(GATES[15]).toBe("spawn");
});

test("each gate that needs facts says which jobs concern it; a plain job concerns none", () => {
	const concerned = (more: Partial<Job>) => FACT_GATES.filter((gate) => gate.concerns(makeJob(more))).map(({ name }) => name);
	expect(concerned({ deadline: 1, runnable_at: 5, approval: "needed", batch: "b", repo: "web", deps_left: 0 })).toEqual([]);
	expect(concerned({ deps_left: 1 })).toEqual(["after"]);
	expect(concerned({ needs: ["file:a"] })).toEqual(["artifacts"]);
	expect(concerned({ item: "cards:1" })).toEqual(["item"]);
	expect(concerned({ pinned_head: { branch: "main", commit: "abcd" } })).toEqual(["head"]);
	expect(concerned({ conditions: [{ kind: "clean_worktree" }] })).toEqual(["conditions"]);
	expect(concerned({ locks: [{ key: "a", mode: "shared" }] })).toEqual(["locks"]);
});

test("the facts that decide about one job", () => {
	const one = makeJob({
		repo: "web",
		needs: ["file:a", "custom:b:c"],
		item: "cards:7",
		pinned_head: { branch: "main", commit: "abcd" },
		conditions: [{ kind: "branch_exists", branch: "x" }],
		locks: [{ key: "a", mode: "exclusive" }],
	});
	expect(factKeys(one)).toEqual([
		"artifact:file:a@web",
		"artifact:custom:b:c",
		"item:cards:7",
		"head:web:main",
		"condition:branch_exists:x@web",
	]);
	expect(factKeys(makeJob())).toEqual([]);
});

describe("decide", () => {
	test("nothing refuses: ready", () => {
		expect(decide(makeJob(), facts(), world())).toEqual({ kind: "ready" });
	});

	test("the first refusal names status, what it is parked on, and gate", () => {
		const one = makeJob({ runnable_at: NOW + 5, approval: "needed", locks: [{ key: "a", mode: "exclusive" }] });
		const busy = facts({ lock: () => ({ holders: [{ job: 9, mode: "exclusive" }] }) });
		expect(decide(one, busy, world())).toMatchObject({ kind: "park", status: "queued", parked_on: "time", gate: "time", until: NOW + 5 });
		expect(decide({ ...one, runnable_at: 0 }, busy, world())).toMatchObject({
			kind: "park",
			status: "queued",
			parked_on: "human",
			gate: "approval",
		});
		expect(decide(makeJob({ locks: [{ key: "a", mode: "exclusive" }] }), busy, world())).toMatchObject({
			kind: "park",
			status: "waiting_on_locks",
			parked_on: "lock:exclusive:a",
			gate: "locks",
			reason: { detail: "waiting on locks" },
		});
	});

	test("a verdict comes first, whatever earlier gate it waits at", () => {
		const one = makeJob({ runnable_at: NOW + 500, item: "cards:1" });
		expect(decide(one, facts({ after: [{ job: 7, policy: "success", status: "failed" }] }), world())).toEqual({
			kind: "end",
			verdict: { status: "blocked_by_dependency", reason: "dependency failed for job 7 (failed)" },
		});
		expect(decide(one, facts({ item: { value: { open: false }, observed_at: 0 } }), world())).toMatchObject({
			kind: "end",
			verdict: { status: "cancelled", reason: "item_closed" },
		});
		expect(decide(makeJob({ approval: "needed", deadline: NOW }), facts(), world())).toMatchObject({
			kind: "end",
			verdict: { status: "expired" },
		});
	});

	test("a held batch parks; pauses, budgets, hosts and caps do not", () => {
		expect(decide(makeJob({ batch: "b" }), facts(), world({ holds: pausing("batch:b") }))).toMatchObject({
			kind: "park",
			status: "queued",
			parked_on: "batch:b",
		});
		expect(decide(makeJob(), facts(), world({ holds: pausing("all"), usage: new Map([["all", 99]]) }))).toEqual({ kind: "ready" });
	});
});

describe("shut", () => {
	test("the first refusal of the bucket gates", () => {
		expect(shut(makeBucket(), world({ hosts: [here] }))).toBeNull();
		expect(shut(makeBucket(), world({ holds: pausing("all") }))).toMatchObject({ gate: "holds" });
		expect(shut(makeBucket(), world())).toMatchObject({ gate: "host", code: "no_host" });
		expect(shut(makeBucket(), world({ hosts: [here], usage: new Map([["all", 4]]) }))).toMatchObject({ gate: "capacity" });
	});
});

describe("all reasons", () => {
	test("of a job that every gate refuses, in the order of the gates", () => {
		const one = makeJob({
			runnable_at: NOW + 5,
			backoff_until: NOW + 5,
			approval: "needed",
			question: "?",
			batch: "b",
			locks: [{ key: "a", mode: "exclusive" }],
			conditions: [{ kind: "clean_worktree" }],
			pinned_head: { branch: "main", commit: "abcd" },
			needs: ["file:x"],
			item: "cards:1",
		});
		const against = facts({
			after: [{ job: 7, policy: "success", status: "running" }],
			artifacts: [{ artifact: "file:x", present: undefined, producers: [] }],
			conditions: [undefined],
			item: { value: { open: true, blocked_by: ["2"] }, observed_at: 0 },
			lock: () => ({ holders: [{ job: 9, mode: "exclusive" }] }),
		});
		const now = world({
			holds: pausing("all", "batch:b"),
			config: { ...DEFAULTS, spawn_delay_ms: 10 },
			usage: new Map([["all", 25]]),
			last_start_at: NOW,
		});
		expect(allReasons(one, makeBucket(), against, now).map((reason) => `${reason.gate}/${reason.code}`)).toEqual([
			"time/delayed",
			"time/backoff",
			"after/dependencies",
			"artifacts/probing",
			"item/item_blocked",
			"head/probing",
			"conditions/probing",
			"approval/approval",
			"approval/needs_human",
			"locks/locks",
			"holds/paused",
			"holds/paused",
			"host/no_host",
			"capacity/safety_cap",
			"capacity/capacity",
			"capacity/capacity",
		]);
	});

	test.each(STATUSES.filter((status) => !["queued", "waiting_on_deps", "waiting_on_locks"].includes(status)))(
		"none for a job that is %s",
		(status) => {
			expect(allReasons(makeJob({ status, runnable_at: NOW + 1 }), makeBucket(), facts(), world())).toEqual([]);
		},
	);
});

test("dispatch and why agree: a job is ready and its bucket open exactly when it has no reason", () => {
	const some = fc.record(
		{
			runnable_at: fc.constantFrom(0, NOW + 1),
			approval: fc.constantFrom("needed" as const, "given" as const),
			batch: fc.constantFrom("a", "b"),
			lane: fc.constantFrom("default", "slow"),
			locks: fc.constantFrom<Lock[]>([{ key: "k", mode: "exclusive" }]),
		},
		{ requiredKeys: [] },
	);
	const scope = fc.constantFrom("all", "lane:slow", "batch:b");
	fc.assert(
		fc.property(some, fc.array(scope), fc.nat({ max: 5 }), fc.boolean(), (more, scopes, all, busy) => {
			const one = makeJob(more as Partial<Job>);
			const now = world({ holds: pausing(...scopes), hosts: [here], usage: new Map([["all", all]]) });
			const known = facts({ lock: () => ({ holders: busy ? [{ job: 9, mode: "shared" }] : [] }) });
			const decision = decide(one, known, now);
			const closed = shut(bucketOf(one, 1), now);
			const reasons = allReasons(one, bucketOf(one, 1), known, now);
			expect(reasons.length === 0).toBe(decision.kind === "ready" && closed === null);
			if (decision.kind === "park") {
				expect(reasons).toContainEqual(decision.reason);
				expect(decision.status).toBe(REASON_CODES[decision.reason.code]);
			}
		}),
	);
});
