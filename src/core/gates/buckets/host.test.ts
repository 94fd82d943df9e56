// Gate `host`: a live host with the repo and the labels.

import { expect, test } from "vitest";
import { makeBucket, worldAt } from "../../../../test/make/gates.ts";
import type { Bucket } from "../../bucket.ts";
import type { HostRecord } from "../../limits-view.ts";
import { host, suits } from "./host.ts";

const NOW = 0;

const world = worldAt(NOW);
const machine = (name: string, more: Partial<HostRecord> = {}): HostRecord => ({
	name,
	labels: [],
	repos: null,
	heartbeat_at: 0,
	state: "live",
	...more,
});
const ask = (one: Partial<Bucket>, hosts: HostRecord[], asking?: string) =>
	host.ask(makeBucket(one), world({ hosts, ...(asking === undefined ? {} : { host: asking }) }));

test.each([
	[machine("h"), {}, true],
	[machine("h", { drain: { by: "ann", at: 0, reason: "" } }), {}, false],
	[machine("h", { state: "stale" }), {}, false],
	[machine("h", { lease_until: 1 }), {}, true],
	[machine("h", { lease_until: 0 }), {}, false],
	[machine("h", { state: "gone" }), {}, false],
	[machine("h"), { repo: "web" }, true],
	[machine("h", { repos: ["web"] }), { repo: "web" }, true],
	[machine("h", { repos: ["api"] }), { repo: "web" }, false],
	[machine("h", { repos: [] }), {}, true],
	[machine("h", { labels: ["gpu", "big"] }), { labels: ["gpu"] }, true],
	[machine("h", { labels: ["gpu"] }), { labels: ["gpu", "big"] }, false],
] as [HostRecord, Partial<Bucket>, boolean][])("%j for %j", (record, one, yes) => {
	expect(suits(record, makeBucket(one), NOW)).toBe(yes);
});

test("one able host of several is enough", () => {
	expect(ask({ labels: ["gpu"] }, [machine("a"), machine("b", { labels: ["gpu"] })])).toBeNull();
});

test("no able host: what the job needs", () => {
	expect(ask({ repo: "web", labels: ["gpu"] }, [machine("a")])).toEqual([
		{ gate: "host", code: "no_host", subject: "repo web,label gpu", detail: "no live host with repo web, label gpu: a lacks label gpu" },
	]);
	expect(ask({}, [])?.[0]?.detail).toBe("no live host");
});

test("no able host: why each cannot take it, the nearest first", () => {
	const hosts = [
		machine("a"),
		machine("b", { labels: ["gpu"], drain: { by: "ann", at: 0, reason: "" } }),
		machine("c", { labels: ["gpu"], lease_until: 0 }),
		machine("d", { state: "gone" }),
		machine("e", { repos: ["api"] }),
	];
	expect(ask({ repo: "web", labels: ["gpu"] }, hosts)?.[0]?.detail).toBe(
		"no live host with repo web, label gpu: b is draining; c has not been heard of; a lacks label gpu; 1 more",
	);
	expect(ask({}, [machine("d", { state: "gone" })])?.[0]?.detail).toBe("no live host: d is gone");
});

test("a host that asks gets only jobs that it can run", () => {
	const hosts = [machine("a"), machine("b", { labels: ["gpu"] })];
	expect(ask({ labels: ["gpu"] }, hosts, "a")).toHaveLength(1);
	expect(ask({ labels: ["gpu"] }, hosts, "b")).toBeNull();
});

test("outside workers bring their own place", () => {
	expect(ask({ kind: "payload" }, [])).toBeNull();
	expect(ask({ kind: "payload", labels: ["gpu"] }, [machine("a")])).toHaveLength(1);
});

test("a job that has a worktree or a session on a host goes there, while that is live and has what it takes", () => {
	const hosts = [machine("a"), machine("b")];
	expect(ask({ stays: "a" }, hosts)).toBeNull();
	expect(ask({ stays: "a" }, hosts, "a")).toBeNull();
	expect(ask({ stays: "a" }, hosts, "b")).toEqual([
		{ gate: "host", code: "no_host", subject: "host a", detail: "it goes on on host a, which has its worktree or its session" },
	]);
	expect(ask({ stays: "a" }, [machine("a", { state: "gone" }), machine("b")], "b")).toBeNull();
	expect(ask({ stays: "a", repo: "web" }, [machine("a", { repos: [] }), machine("b")], "b")).toBeNull();
	expect(ask({ stays: "c" }, hosts, "b")).toBeNull();
});
