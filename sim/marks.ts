// Proof that the simulator gets everywhere: one count for each gate, reason, move, ending, outcome, error and fault.

import { EXIT_KINDS } from "../src/core/job.ts";
import { REASON_CODES } from "../src/core/reason.ts";

const WAITING = ["queued", "waiting_on_deps", "waiting_on_locks"];
const TERMINAL = ["succeeded", "failed", "cancelled", "blocked_by_dependency", "expired"];

const moves = [
	...WAITING.map((to) => `none>${to}`),
	...WAITING.flatMap((from) => WAITING.filter((to) => to !== from).map((to) => `${from}>${to}`)),
	"queued>running",
	...WAITING.map((from) => `${from}>cancelled`),
	"queued>expired",
	"waiting_on_deps>expired",
	"waiting_on_locks>expired",
	"waiting_on_deps>blocked_by_dependency",
	"running>succeeded",
	"running>failed",
	"running>cancelled",
	"running>queued",
	...TERMINAL.map((from) => `${from}>queued`),
];

/** Every call sweeps first: a job whose deadline has passed is never seen waiting. */
const UNSEEN_CODES = ["deadline"];

export const EXPECTED: readonly string[] = [
	...[
		"time",
		"held",
		"after",
		"artifacts",
		"item",
		"head",
		"conditions",
		"approval",
		"locks",
		"holds",
		"review",
		"budget",
		"host",
		"capacity",
	].map((gate) => `gate:${gate}`),
	...Object.keys(REASON_CODES)
		.filter((code) => !UNSEEN_CODES.includes(code))
		.map((code) => `code:${code}`),
	...moves.map((move) => `move:${move}`),
	...EXIT_KINDS.map((kind) => `exit:${kind}`),
	...["queued", "already_running", "deferred", "duplicate"].map((outcome) => `add:${outcome}`),
	...["not_found", "cycle", "conflict", "illegal_transition", "fenced", "impossible", "limit", "forbidden", "invalid", "store"].map(
		(code) => `error:${code}`,
	),
	...["begin", "flush", "commit", "committed", "probe", "turn"].map((point) => `fault:crash:${point}`),
	...["fault:full:flush", "fault:full:commit", "fault:busy:begin", "fault:kill", "fault:jump-forward", "fault:jump-back"],
	...["adopted", "ended", "lost", "start"].map((found) => `recover:${found}`),
	...[
		"circuit-broken",
		"breaker-opened",
		"overdue-turn",
		"reserved",
		"replaced",
		"warned",
		"rewound",
		"gc-deleted",
		"first-breach",
		"on-breach-stop",
		"half-open",
		"own-fault",
		"probe-failed",
		"probe-passed-on",
		"cycle",
		"lease-lost",
		"failover",
		"staged",
		"stage-cut",
		"lent",
		"circle",
		"all-wait",
		"waits-dropped",
		"said-no",
		"asked-itself",
		"said-ok",
		"still-said",
		"verdict-beaten",
		"outage",
		"outage-tried",
		"try-passed-on",
		"outage-lasts",
		"outage-over",
		"outage-counted",
		"outage-too-long",
	].map((deed) => `deed:${deed}`),
];

/** What only a fleet gets to. */
export const FLEET_MARKS: readonly string[] = [
	...[
		...["stale", "back", "lost", "lost-run", "lost-lock", "lost-stopped-run", "anew-after-lost", "anew-after-left", "left", "stayed"],
		...["restarted", "joined-after-lost", "joined-after-left", "drained", "undrained", "stops-run", "offers"],
		...["removed", "removed-fenced", "not-removed", "not-removed-for-runs"],
		...["kept-from-draining", "kept-from-stale", "kept-from-gone"],
	].map((deed) => `deed:host-${deed}`),
	...["overtaken:heartbeat", "overtaken:claim", "overtaken:leave", "held:live", "held:draining", "held:stale"].map(
		(mark) => `host:${mark}`,
	),
	...["fenced:complete", "fenced:started", "fenced:extend", "died", "renamed", "not-renamed", "visited", "leads", "race"].map(
		(mark) => `host:${mark}`,
	),
];

export class Marks {
	readonly counts = new Map<string, number>();

	hit(name: string, times = 1): void {
		this.counts.set(name, (this.counts.get(name) ?? 0) + times);
	}

	merge(other: Iterable<[string, number]>): void {
		for (const [name, count] of other) this.hit(name, count);
	}

	missing(expected: readonly string[]): string[] {
		return expected.filter((name) => !this.counts.has(name));
	}

	print(expected: readonly string[]): string {
		const names = [...new Set([...expected, ...[...this.counts.keys()].sort()])];
		return names
			.map((name) => `${String(this.counts.get(name) ?? 0).padStart(9)}  ${name}${expected.includes(name) ? "" : "  (not asked for)"}`)
			.join("\n");
	}
}
