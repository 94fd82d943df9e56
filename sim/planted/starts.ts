// Planted bugs in what may start, and in which order: caps, queue limits, budgets, pauses, deadlines, priority, cycles.

import { backlogOf, hardLimit } from "../../src/core/config.ts";
import { capacity, footprint, inUse } from "../../src/core/gates/buckets/capacity.ts";
import { pausedReason } from "../../src/core/gates/buckets/holds.ts";
import { review } from "../../src/core/gates/buckets/review.ts";
import { deadline } from "../../src/core/gates/deadline.ts";
import { isSpent } from "../../src/core/ledger.ts";
import { ageBoost, levelOf } from "../../src/core/order.ts";
import { backlog, uncountSerial } from "../../src/scheduler/limits/backlog.ts";
import { releaseBudgets, reserveBudgets } from "../../src/scheduler/limits/budgets.ts";
import { beginDueCycle, drawOnCycle, hasCycles, openCycle } from "../../src/scheduler/limits/cycle.ts";
import { countReview } from "../../src/scheduler/limits/reviews.ts";
import { addJob } from "../../src/scheduler/operations/add.ts";
import { finish } from "../../src/scheduler/operations/finish.ts";
import { rewind } from "../../src/scheduler/operations/rewind.ts";
import { Tx } from "../../src/scheduler/transaction/tx.ts";
import { always, type Bug, bugsOf, changed, everywhere, hidden, method, skipped, within } from "./bug.ts";

const startable = hidden<(tx: Tx) => number>("startable");

export const STARTS: Bug[] = [
	...bugsOf("no more runs at once than the caps allow", {
		"a cap off by one": everywhere(method({ capacity }, "ask"), (right) => (bucket, world) => {
			const usage = new Map([...world.usage].map(([subject, used]) => [subject, used - 1]));
			return right(bucket, changed(world, { usage }));
		}),
		"forced jobs ignore the safety cap": everywhere(
			method({ capacity }, "ask"),
			(right) => (bucket, world) => right(bucket, bucket.forced ? changed(world, { config: { ...world.config, safety_cap: 0 } }) : world),
		),
		"a run that waits lends its place under the safety cap": everywhere(method({ capacity }, "ask"), (right) => (bucket, world) => {
			const isFull = inUse("all", world) >= world.config.safety_cap;
			const reasons = right(bucket, world)?.filter(({ code }) => code !== "safety_cap" || isFull) ?? [];
			return reasons.length > 0 ? reasons : null;
		}),
		"a slot of a lane is not given back": within(
			finish,
			footprint,
			(right) =>
				(...run) =>
					right(...run).filter(([subject]) => !subject.startsWith("lane:")),
		),
	}),

	...bugsOf("the queue takes no more jobs than its limit", {
		"the hard queue limit is one off": within(addJob, hardLimit, (right) => (config) => right(config) + 2),
		"an ended job still counts as waiting": within(
			method({ Tx }, "move"),
			method({ Tx }, "count"),
			(right) => (kind, key, by) => (by < 0 ? undefined : right(kind, key, by)),
		),
		"jobs that wait for a serial lock are not counted in the backlog": within(
			backlog,
			backlogOf,
			(right) => (config, ready) => right(config, ready, 0),
		),
		"a job that leaves the wait queue of a serial lock is still counted there": within(uncountSerial, method({ Tx }, "count"), skipped),
	}),

	...bugsOf("no run starts at the expense of a spent budget", {
		"a spent budget goes on": everywhere(
			isSpent,
			(right) => (ledger, now, timezone) =>
				right(ledger.limit === null || ledger.subject.startsWith("pid:") ? ledger : { ...ledger, limit: ledger.limit + 1 }, now, timezone),
		),
		"runs set nothing aside of a budget": everywhere(reserveBudgets, skipped),
		"what was set aside of a budget is kept": everywhere(releaseBudgets, (right) => (tx, run) => {
			const { reserved: _, ...rest } = run;
			return right(tx, rest);
		}),
	}),

	...bugsOf("pauses and deadlines hold", {
		"paused lanes start jobs": everywhere(
			pausedReason,
			(right) => (scope, world) => (scope.startsWith("lane:") ? undefined : right(scope, world)),
		),
		"a deadline is let pass": everywhere(
			method({ deadline }, "ask"),
			(right) => (job, facts) => right(job, changed(facts, { now: facts.now - 3_600_000 })),
		),
	}),

	...bugsOf("no run starts while too much work waits for review", {
		"the cap on unreviewed work is one off": everywhere(method({ review }, "ask"), (right) => (bucket, world) => {
			const usage = new Map([...world.usage].map(([key, count]) => [key, key.startsWith("review:") ? count - 1 : count]));
			return right(bucket, changed(world, { usage }));
		}),
		"jobs that merge nothing wait for review, too": everywhere(
			method({ review }, "ask"),
			(right) => (bucket, world) => right({ ...bucket, merges: true }, world),
		),
		"a merge that is reported leaves the count of unreviewed jobs as it is": within(hidden("setMerge"), countReview, skipped),
		"a rewound job still counts as unreviewed": within(hidden("reset", { beside: rewind }), countReview, skipped),
	}),

	...bugsOf("the order of starts", {
		"lower P first": everywhere(
			hidden<(a: { p: number }, b: { p: number }) => boolean>("better"),
			(right) => (a, b) => (a.p === b.p ? right(a, b) : a.p < b.p),
		),
		"age counts a tenth": everywhere(ageBoost, (right) => (ageAtMs, now, config) => right(ageAtMs, ageAtMs + (now - ageAtMs) / 10, config)),
		"depth is not counted": everywhere(
			levelOf,
			(right) => (job, config) => right(job, { ...config, order: { ...config.order, depth_boost_per_level: 0 } }),
		),
		"the overdue turn never comes": everywhere(hidden<() => boolean>("overdueTurn"), always(false)),
		"promoted jobs do not go first": everywhere(
			hidden<(plain: unknown, ranked: unknown[]) => unknown>("laneCandidate"),
			(right) => (plain, ranked) => plain ?? right(plain, ranked),
		),
	}),

	...bugsOf("a cycle starts what could start when it began", {
		"spawn_delay ends the cycle": everywhere(
			drawOnCycle,
			(right) => (tx, starts) => right(tx, tx.config.spawn_delay_ms > 0 ? 1000 : starts),
		),
		"what a cycle did not use is kept for later": within(drawOnCycle, startable, always(Number.POSITIVE_INFINITY)),
		"a cycle by hand is left open": within(openCycle, startable, always(1000)),
		"cycles are counted from the last one, not on the clock": everywhere(beginDueCycle, (right) => (tx) => {
			const sinceLast = tx.now - tx.getPace().last_cycle_at;
			if (!hasCycles(tx) || (sinceLast >= 0 && sinceLast < tx.config.cycle_interval_ms)) return;
			right(tx);
			tx.setPace({ last_cycle_at: tx.now });
		}),
	}),
];
