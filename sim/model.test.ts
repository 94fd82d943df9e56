// The reference model by itself, on the examples that the five documents give.

import { describe, expect, it } from "vitest";
import { type Config, DEFAULTS, LANE_DEFAULT, PRESETS } from "../src/core/config.ts";
import type { JobInput } from "../src/core/job.ts";
import type { Call } from "./engine/call.ts";
import { duplicateOf, makeJob } from "./model/add.ts";
import type { Seen } from "./model/agree.ts";
import { Disagreement } from "./model/agree.ts";
import { take } from "./model/claim.ts";
import { lockRefusals } from "./model/gates/locks.ts";
import { early } from "./model/gates/refusal.ts";
import { laneOrder, prioritySum, startable } from "./model/order.ts";
import { retryWindow } from "./model/retry-policy.ts";
import { emptyState, find, type ModelJob, type State } from "./model/state.ts";
import { step } from "./model.ts";

const NOW = Date.UTC(2026, 0, 5, 12);
const MINUTE = 60_000;

class Solo {
	readonly state: State;
	private last = 0;
	constructor(config: Config = DEFAULTS) {
		this.state = emptyState(structuredClone(config), NOW);
		this.state.hosts.push({ name: "h0", labels: [], repos: null, heartbeat_at: NOW + 1e9 });
	}
	call(call: Call, fresh: number[] = [], result?: unknown): void {
		const seen: Seen = { job: () => undefined, fresh, ...(result === undefined ? {} : { result }) };
		step(this.state, call, seen, { host: "h0", probed: [] });
	}
	add(input: JobInput): ModelJob {
		this.last += 1;
		this.call({ method: "add", args: [{ command: ["true"], ...input }] }, [this.last]);
		return find(this.state, this.last) as ModelJob;
	}
	claim(max = 1): number[] {
		this.call({ method: "tick", args: [] });
		return take(this.state, { worker: "w", max }, "h0", () => ++this.state.last_token).map((job) => job.id);
	}
	end(id: number, exit_kind: "completed" | "failed" | "launch_failed" | "cancelled" = "completed"): void {
		const token = find(this.state, id)?.run?.token ?? -1;
		this.call({ method: "complete", args: [{ job: id, token, exit_kind }] });
	}
	later(ms: number): void {
		this.state.now += ms;
		this.call({ method: "tick", args: [] });
	}
	status(id: number): string {
		const job = find(this.state, id);
		return `${job?.status}${job?.end_reason === undefined ? "" : `: ${job.end_reason}`}`;
	}
}

describe("003: order", () => {
	it("gives A 135, B 130, C 111, in that order", () => {
		const solo = new Solo({ ...PRESETS.loops, parents: { ...PRESETS.loops.parents, gate: "none" } });
		const child = (lane: string, depth: number, minutes: number, failures: number) => {
			const job = makeJob(solo.state, solo.state.jobs.length + 1, { lane, command: ["true"] }, []);
			Object.assign(job, { path: [901, 902, 903].slice(0, depth), created_at: NOW - minutes * MINUTE, ready_at: NOW, failures });
			solo.state.jobs.push(job);
			return job;
		};
		const c = child("code", 3, 1, 4);
		const b = child("phase", 2, 30, 0);
		const a = child("code", 3, 5, 0);
		expect([a, b, c].map((job) => prioritySum(solo.state, job, NOW))).toEqual([135, 130, 111]);
		expect(take(solo.state, { worker: "w", max: 3 }, "h0", () => 1).map((job) => job.id)).toEqual([a.id, b.id, c.id]);
	});

	it("lets an old plan through a stream of fresh code jobs, every fourth start", () => {
		const solo = new Solo({ ...PRESETS.loops, max_concurrent: 1, parents: { ...PRESETS.loops.parents, gate: "none" } });
		const plan = solo.add({ lane: "plan" });
		solo.later(61 * MINUTE);
		const started: number[] = [];
		while (!started.includes(plan.id) && started.length < 50) {
			solo.add({ lane: "code", priority: 30 });
			const [id = 0] = solo.claim();
			started.push(id);
			solo.end(id);
		}
		expect(started.indexOf(plan.id)).toBe(3);
	});
});

describe("000: limits, delays, locks", () => {
	it("waits 30, 60, 120, 240, 300 s, ± 10 %", () => {
		const { retry } = PRESETS.cards;
		expect([1, 2, 3, 4, 5].map((n) => retryWindow(retry, n))).toEqual([
			{ least: 27_000, most: 33_000 },
			{ least: 54_000, most: 66_000 },
			{ least: 108_000, most: 132_000 },
			{ least: 216_000, most: 264_000 },
			{ least: 300_000, most: 300_000 },
		]);
	});

	it("retries five times, then the job has failed", () => {
		const solo = new Solo(PRESETS.cards);
		const job = solo.add({ lane: "implement" });
		for (let run = 1; run <= 6; run++) {
			expect(solo.claim(), `run ${run}`).toEqual([job.id]);
			solo.end(job.id, "failed");
			if (run < 6) expect(solo.status(job.id)).toBe("queued");
			solo.later(6 * MINUTE);
		}
		expect(solo.status(job.id)).toBe("failed");
	});

	it("defers at twice the soft limit of 8", () => {
		const solo = new Solo(PRESETS.cards);
		for (let n = 0; n < 16; n++) solo.add({ lane: "review" });
		expect(() => solo.add({ lane: "review" })).toThrow(Disagreement);
		solo.call({ method: "add", args: [{ command: ["true"], lane: "review" }] }, [], { outcome: "deferred", limit: 16 });
	});

	it("keeps an item's chain through back-off and answers already_running", () => {
		const solo = new Solo(PRESETS.cards);
		const job = solo.add({ lane: "implement", item: "7", source: "cards" });
		solo.claim();
		solo.end(job.id, "failed");
		solo.call({ method: "add", args: [{ command: ["true"], lane: "implement", item: "7", source: "cards" }] }, [], {
			outcome: "already_running",
			job: job.id,
			holder: job.id,
		});
	});

	it("holds back a job of the same phase and lane before any cap is asked", () => {
		const solo = new Solo({ ...PRESETS.cards, max_concurrent: 5 });
		const serial = { lane: "implement", source: "cards", phase: "1", parallelizable: false };
		solo.state.config.lanes.implement = { ...LANE_DEFAULT, max: 5 };
		const first = solo.add(serial);
		const second = solo.add(serial);
		expect(solo.claim(2)).toEqual([first.id]);
		solo.later(1);
		expect(solo.status(second.id)).toBe("waiting_on_locks");
		solo.end(first.id);
		expect(solo.status(second.id)).toBe("queued");
	});
});

describe("002: after and artifacts", () => {
	it("resolves each row of `after`", () => {
		const solo = new Solo({ ...PRESETS.dag });
		const first = solo.add({});
		const onSuccess = solo.add({ after: [first.id] });
		const onFailure = solo.add({ after: [{ job: first.id, policy: "failure" }] });
		const onAny = solo.add({ after: [{ job: first.id, policy: "any" }] });
		expect(early(solo.state, onSuccess, NOW).map((refusal) => refusal.detail)).toEqual([`waiting on job ${first.id}`]);
		expect(solo.status(onSuccess.id)).toBe("waiting_on_deps");
		solo.claim();
		solo.end(first.id, "failed");
		expect(solo.status(onSuccess.id)).toBe(`blocked_by_dependency: dependency failed for job ${first.id} (failed)`);
		expect(solo.status(onFailure.id)).toBe("queued");
		expect(solo.status(onAny.id)).toBe("queued");
	});

	it("resolves each row of artifacts", () => {
		const solo = new Solo(PRESETS.dag);
		const marker = "custom:report:one";
		const nobody = solo.add({ needs: [marker] });
		expect(solo.status(nobody.id)).toBe(`blocked_by_dependency: missing ${marker}`);
		const maker = solo.add({ produces: [marker] });
		const user = solo.add({ needs: [marker] });
		expect(early(solo.state, user, NOW).map((refusal) => refusal.detail)).toEqual([`waiting on ${marker}`]);
		solo.claim();
		solo.end(maker.id, "failed");
		expect(solo.status(user.id)).toBe(`blocked_by_dependency: dependency failed for ${marker}`);
		const patient = solo.add({ needs: [marker], on_missing: "wait" });
		expect(early(solo.state, patient, NOW).map((refusal) => refusal.detail)).toEqual([`awaiting producer for ${marker}`]);
		solo.call({ method: "mark", args: [marker] });
		expect(solo.status(patient.id)).toBe("queued");
	});

	it("shares shared locks and keeps exclusive ones apart", () => {
		const solo = new Solo(PRESETS.dag);
		const one = solo.add({ locks: [{ key: "db", mode: "shared" }] });
		const two = solo.add({ locks: [{ key: "db", mode: "shared" }] });
		const three = solo.add({ locks: [{ key: "db", mode: "exclusive" }] });
		expect(solo.claim(9)).toEqual([one.id, two.id]);
		expect(lockRefusals(solo.state, three)).toHaveLength(1);
		solo.end(one.id);
		expect(solo.claim(9)).toEqual([]);
		solo.end(two.id);
		expect(solo.claim(9)).toEqual([three.id]);
	});

	it("rewinds what comes after, and refuses while any of it runs", () => {
		const solo = new Solo(PRESETS.dag);
		const first = solo.add({});
		const second = solo.add({ after: [first.id] });
		solo.claim();
		solo.end(first.id);
		expect(solo.claim()).toEqual([second.id]);
		expect(() => solo.call({ method: "retry", args: [first.id] })).toThrow(/running/);
		solo.end(second.id, "failed");
		solo.call({ method: "retry", args: [first.id] }, [], { reset: [first.id, second.id], restarted: [], last_successful: [] });
		expect([solo.status(first.id), solo.status(second.id)]).toEqual(["queued", "waiting_on_deps"]);
	});
});

describe("001 and 004", () => {
	it("starts min(capacity, batch, ready)", () => {
		const solo = new Solo({ ...PRESETS.town, max_concurrent: 5, batch_size: 2 });
		for (let n = 0; n < 4; n++) solo.add({});
		expect(solo.claim(10)).toEqual([]);
		solo.later(3 * MINUTE);
		expect(solo.claim(10)).toEqual([1, 2]);
		expect(solo.claim(10)).toEqual([]);
		solo.later(3 * MINUTE);
		expect(solo.claim(10)).toEqual([3, 4]);
	});

	it("breaks the circuit after three failed launches", () => {
		const solo = new Solo({ ...PRESETS.town, cycle_interval_ms: 0 });
		const job = solo.add({});
		for (const wait of [10_000, 20_000]) {
			solo.claim();
			solo.end(job.id, "launch_failed");
			expect(find(solo.state, job.id)?.backoff_until).toBe(solo.state.now + wait);
			solo.later(wait);
		}
		solo.claim();
		solo.end(job.id, "launch_failed");
		expect(solo.status(job.id)).toBe("failed: circuit-broken");
	});

	it("orders the ready queue by priority, then time, then id", () => {
		const solo = new Solo(PRESETS.kernel);
		solo.state.agents.push({ pid: 1, name: "a", state: "READY" });
		const at = NOW / 1000;
		const put = (id: number, priority: number, runnable_at: number) =>
			solo.call({ method: "kernel.enqueue", args: [{ pid: 1, priority, runnable_at }] }, [id]);
		put(1, 0, at - 5);
		put(2, 5, at);
		put(3, 5, at - 1);
		put(4, 9, at + 60);
		solo.call({ method: "kernel.claim", args: [{ worker_id: "w", max_n: 10 }] }, [], {
			entries: [{ sched_id: 3 }, { sched_id: 2 }, { sched_id: 1 }],
		});
		expect(find(solo.state, 4)?.status).toBe("queued");
	});

	it("skips a kernel entry whose owner is over its limit", () => {
		const solo = new Solo(PRESETS.kernel);
		solo.state.agents.push({ pid: 1, name: "a", state: "READY" });
		solo.call({ method: "kernel.enqueue", args: [{ pid: 1 }] }, [1]);
		solo.call({ method: "kernel.ledger.grant", args: [{ pid: 1, dim: "tokens", limit: 5 }] });
		solo.call({ method: "kernel.ledger.charge", args: [{ pid: 1, dim: "tokens", amount: 6 }] });
		solo.call({ method: "kernel.claim", args: [{ worker_id: "w" }] }, [], { entries: [] });
		solo.call({ method: "kernel.claim", args: [{ worker_id: "w", admission_check: false }] }, [], { entries: [{ sched_id: 1 }] });
	});
});

describe("the model's own bookkeeping", () => {
	it("finds duplicates within their window only", () => {
		const solo = new Solo();
		const job = solo.add({ unique: { key: "u", window_ms: 5000 } });
		expect(duplicateOf(solo.state, { unique: { key: "u" } })?.id).toBe(job.id);
		solo.claim();
		solo.end(job.id);
		expect(duplicateOf(solo.state, { unique: { key: "u", window_ms: 5000 } })?.id).toBe(job.id);
		solo.later(5000);
		expect(duplicateOf(solo.state, { unique: { key: "u", window_ms: 5000 } })).toBeUndefined();
	});

	it("promotes to the head of the lane and demotes to its end", () => {
		const solo = new Solo();
		const jobs = [1, 2, 3].map(() => solo.add({}));
		solo.call({ method: "promote", args: [3] });
		solo.call({ method: "demote", args: [1] });
		expect(laneOrder(solo.state, jobs, NOW).map((job) => job.id)).toEqual([3, 2, 1]);
		expect(startable(solo.state, NOW)).toHaveLength(3);
	});
});
