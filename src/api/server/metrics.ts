// Numbers for Prometheus: what is queued and running now, and what this daemon has seen since it started. docs/reference/metrics.md names each.

import type { CommitSummary, EventRow, Scheduler } from "../../contracts/scheduler.ts";
import { HOLD_KINDS } from "../../core/limits-view.ts";
import { type Family, Histogram, writeMetrics } from "./metrics-text.ts";

/** Upper bounds of the buckets, in seconds. */
const LATENCY = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200];
const DURATION = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 14_400, 43_200];

export class Metrics {
	private readonly latency = new Histogram(LATENCY);
	private readonly duration = new Histogram(DURATION);
	private readonly ends = new Map<string, number>();
	private readonly outcomes = new Map<string, number>();
	private readonly usage = new Map<string, number>();
	private added = 0;
	/** Start times of live runs. */
	private readonly began = new Map<number, number>();
	private readonly off: () => void;

	constructor(
		private readonly scheduler: Scheduler,
		private readonly startedAt: number,
		private readonly version: string,
	) {
		this.off = scheduler.watch((summary) => this.hear(summary));
	}

	/** Loads the runs that were live before this daemon started. */
	async open(): Promise<void> {
		for (const { id, run } of await this.scheduler.list({ status: ["running"], limit: 100_000 })) {
			if (run && !this.began.has(id)) this.began.set(id, run.started_at);
		}
	}

	close(): void {
		this.off();
	}

	private hear({ events }: CommitSummary): void {
		for (const event of events) this.count(event);
		// Jobs that are added together have one event for all of them.
		const applied = events.find((event) => event.kind === "applied");
		if (applied && !events.some(({ kind }) => kind === "added")) this.added += applied.data.to - applied.data.from + 1;
	}

	private count({ kind, job, at, data }: EventRow): void {
		if (kind === "added") this.added++;
		if (job === null) return;
		if (kind === "started") {
			this.began.set(job, at);
			this.latency.observe(data.waited_ms / 1000);
			return;
		}
		if (kind !== "ended" && kind !== "requeued") return;
		for (const [dim, amount] of Object.entries(data.usage ?? {})) bump(this.usage, dim, amount);
		if (kind === "ended") bump(this.outcomes, data.to);
		const since = this.began.get(job);
		if (since === undefined) return;
		this.began.delete(job);
		this.duration.observe(Math.max(0, at - since) / 1000);
		bump(this.ends, data.exit_kind ?? "unknown");
	}

	async text(): Promise<string> {
		const [status, ledgers, accounts] = await Promise.all([this.scheduler.status(), this.scheduler.ledgers(), this.scheduler.accounts()]);
		const lanes = Object.entries(status.lanes);
		const perLane = (of: "queued" | "running" | "max") =>
			lanes.flatMap(([lane, { [of]: value }]) => (value === null ? [] : [{ labels: { lane }, value }]));
		const perLedger = (of: "used" | "limit" | "reserved") =>
			ledgers.flatMap(({ subject, dim, [of]: value }) => (value === null ? [] : [{ labels: { subject, dim }, value }]));
		/** Of the accounts in this state: the moment since or until when. */
		const perAccount = (wanted: string, of: "since" | "until") =>
			accounts.flatMap(({ name, state, [of]: at }) =>
				state === wanted && at !== null ? [{ labels: { account: name }, value: at / 1000 }] : [],
			);
		const holds = new Map<string, number>(HOLD_KINDS.map((kind) => [kind, 0]));
		for (const { kind } of status.holds) bump(holds, kind);
		const cost = ledgers.flatMap(({ subject, dim, used }) => (dim === "cost_micro" ? [{ labels: { subject }, value: used / 1e6 }] : []));
		const families: Family[] = [
			gauge("sluice_info", "Version of the daemon.", [{ labels: { version: this.version }, value: 1 }]),
			gauge("sluice_start_time_seconds", "When the daemon started, as epoch seconds.", [{ value: this.startedAt / 1000 }]),
			gauge("sluice_queue_depth", "Jobs that wait, by lane.", perLane("queued")),
			gauge("sluice_queue_ready", "Jobs that wait for nothing but their turn.", [{ value: status.queued_ready }]),
			gauge("sluice_running", "Live runs, by lane.", perLane("running")),
			gauge("sluice_kernel_entries", "Entries of the kernel's queue that have not ended, by state.", [
				{ labels: { state: "queued" }, value: status.kernel.queued },
				{ labels: { state: "dispatched" }, value: status.kernel.dispatched },
			]),
			gauge("sluice_lane_cap", "Live runs at most, for lanes that have a cap.", perLane("max")),
			gauge("sluice_max_concurrent", "Live runs at most; 0 or less is direct mode.", [{ value: status.max_concurrent }]),
			gauge("sluice_paused", "1 while everything is paused.", [{ value: status.paused ? 1 : 0 }]),
			gauge("sluice_holds", "Standing reasons not to start work, by kind.", rows("kind", holds)),
			gauge("sluice_backpressure", "1 while more is ready than the soft limit.", [{ value: status.backpressure === null ? 0 : 1 }]),
			gauge("sluice_last_dispatch_seconds", "When a job was last started, as epoch seconds; 0 = never.", [
				{ value: (status.last_dispatch_at ?? 0) / 1000 },
			]),
			gauge("sluice_budget_used", "What of a budget is used, by subject and dimension.", perLedger("used")),
			gauge("sluice_budget_limit", "Limits of budgets that have one.", perLedger("limit")),
			gauge("sluice_budget_reserved", "What live runs have set aside of a budget.", perLedger("reserved")),
			gauge(
				"sluice_account_open",
				"1 for accounts on which work may start, 0 for the others.",
				accounts.map(({ name, reasons }) => ({ labels: { account: name }, value: reasons.length === 0 ? 1 : 0 })),
			),
			gauge(
				"sluice_account_limited_until_seconds",
				"When an account's limit is over, as epoch seconds.",
				perAccount("rate_limited", "until"),
			),
			gauge(
				"sluice_account_outage_since_seconds",
				"Since when an account's provider is down, as epoch seconds.",
				perAccount("outage", "since"),
			),
			gauge("sluice_needs_human", "Jobs that wait for a person, a hundred at most.", [{ value: status.needs_human.length }]),
			counter("sluice_usage_total", "What runs reported that they used since the start, by dimension.", rows("dim", this.usage)),
			gauge("sluice_cost_dollars", "Cost, by subject, in the present window of its budget.", cost),
			counter("sluice_jobs_added_total", "Jobs added since the start.", [{ value: this.added }]),
			counter("sluice_jobs_ended_total", "Jobs that came to their end since the start, by status.", rows("status", this.outcomes)),
			counter("sluice_runs_total", "Runs that ended since the start, by exit kind.", rows("exit_kind", this.ends)),
			{ name: "sluice_start_latency_seconds", help: "From ready to claimed.", type: "histogram", histogram: this.latency },
			{ name: "sluice_run_duration_seconds", help: "From claimed to ended, for each run.", type: "histogram", histogram: this.duration },
		];
		return writeMetrics(families);
	}
}

const bump = (map: Map<string, number>, key: string, by = 1) => map.set(key, (map.get(key) ?? 0) + by);
const rows = (label: string, map: Map<string, number>) => [...map].map(([key, value]) => ({ labels: { [label]: key }, value }));
type Samples = Extract<Family, { samples: unknown }>["samples"];
const gauge = (name: string, help: string, samples: Samples): Family => ({ name, help, type: "gauge", samples });
const counter = (name: string, help: string, samples: Samples): Family => ({ name, help, type: "counter", samples });
