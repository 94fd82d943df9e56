// A simulated host: it speaks the protocol of a daemon over a connection of its own (requests, replies, a claim that stands, heartbeats), and its runs are timers.

import type { Claimed } from "../../src/contracts/scheduler.ts";
import { DEFAULTS } from "../../src/core/config.ts";
import { beatMs } from "../../src/core/fleet.ts";
import { draftJob } from "../../src/core/input/job.ts";
import type { Post } from "../../src/fleet/database.ts";
import { Member } from "../../src/fleet/member.ts";
import { openPost } from "../../src/fleet/postgres/post.ts";
import { localHost, systemClock } from "../../src/host/local.ts";
import { secret } from "../../src/host/secret.ts";
import type { ArgumentsOf, OperationName, ResultOf } from "../../src/scheduler/operations/core.ts";
import { type Address, addressOf } from "../../src/stores/address.ts";
import { DatabaseClock } from "../../src/stores/postgres/clock.ts";
import { settings } from "../../src/stores/postgres/dialect.ts";
import { Reconnecting } from "../../src/stores/postgres/reconnecting.ts";

/** As a daemon has them: how long a claim stands, jobs in a claim, and after what time a run is reported as started. */
const STAND_MS = 10_000;
const CLAIM_MAX = 100;
const STARTED_MS = 250;
const PATIENCE_MS = 10_000;

const { monotonic } = systemClock;
const time = { monotonic, after: localHost.after };

/** What a host tells of itself, in milliseconds of the monotonic clock. */
type Told = {
	/** An add was answered. */
	added(ms: number): void;
	/** The end of a run was acknowledged. */
	ended(ms: number): void;
	/** A run has started. `sinceEnd`: since the run before it ended on this host. `since`: since its job was added. */
	started(run: { sinceEnd: number | undefined; sinceAdd: number }): void;
	failed(error: unknown): void;
};
/** `next`: how long a run lasts that starts now. `restMs`: the pause between polls of a host that waits for jobs, which depends on the size of its fleet. */
export type HostLoad = { next(): number; restMs: number; told: Told };

export class SimulatedHost {
	private readonly clock = new DatabaseClock(monotonic);
	private readonly line: Reconnecting;
	private readonly post: Post;
	private readonly member: Member;
	private life: number | undefined;
	private readonly timers = new Set<NodeJS.Timeout>();
	/** When runs ended that have no successor yet. */
	private readonly freed: number[] = [];
	private stopped = false;

	constructor(
		url: string,
		readonly name: string,
		private readonly load: HostLoad,
	) {
		const address: Address = addressOf(url);
		this.line = new Reconnecting(address, { name, ...time, patienceMs: PATIENCE_MS, settings: settings("SESSION") });
		this.post = openPost({
			schema: address.schema,
			member: secret(12),
			host: name,
			reach: () => this.line.reach(),
			onSent: () => {},
			onClock: (at) => this.clock.learn(at),
		});
		this.member = new Member({ post: this.post, time, onPolled: () => {}, restMs: () => load.restMs });
	}

	async join(): Promise<void> {
		await this.post.poll([]);
		const host = { name: this.name, labels: [], repos: null, home: `/home/${this.name}` };
		this.life = (await this.call("open", { host, shared: null })).life;
		this.every(beatMs(DEFAULTS.stale_after_ms), () => this.beat());
	}

	/** A claim of this host stands from now on. */
	claim(): void {
		if (this.stopped) return;
		const args: ArgumentsOf<"claim"> = {
			worker: `host:${this.name}`,
			host: this.name,
			life: this.life,
			kinds: ["command", "agent"],
			max: CLAIM_MAX,
		};
		const sending = { name: "claim", args: JSON.stringify(args), by: undefined, until: this.clock.now() + STAND_MS };
		this.member.send(sending, (outcome) => {
			if ("error" in outcome) return this.stopped ? undefined : this.load.told.failed(outcome.error);
			for (const claimed of outcome.value as Claimed[]) this.start(claimed);
			this.claim();
		});
	}

	async add(): Promise<void> {
		const begun = monotonic();
		const { job, ...more } = draftJob({ command: ["true"] }, DEFAULTS, { now: this.clock.now(), force: false });
		await this.call("add", { draft: { job, ...more }, undelayed: true, force: false });
		this.load.told.added(monotonic() - begun);
	}

	async stop(): Promise<void> {
		this.stopped = true;
		for (const timer of this.timers) clearTimeout(timer);
		await this.member.close();
		await this.line.close();
	}

	private async beat(): Promise<void> {
		if (this.life === undefined) return;
		try {
			if (!(await this.post.beat(this.name, this.life))) this.load.told.failed("its life is over");
		} catch (error) {
			if (!this.stopped) this.load.told.failed(error);
		}
	}

	private start({ job, run }: Claimed): void {
		const now = monotonic();
		const ended = this.freed.shift();
		this.load.told.started({ sinceEnd: ended === undefined ? undefined : now - ended, sinceAdd: this.clock.now() - job.created_at });
		const at = { job: job.id, token: run.token };
		const lasts = this.load.next();
		if (lasts > STARTED_MS) this.after(STARTED_MS, () => this.tell("started", at));
		this.after(lasts, () => this.end(at));
	}

	private end(at: { job: number; token: number }): void {
		const begun = monotonic();
		this.freed.push(begun);
		this.tell("finish", { ...at, exit_kind: "completed", exit_code: 0 }, () => this.load.told.ended(monotonic() - begun));
	}

	private tell<N extends OperationName>(name: N, args: ArgumentsOf<N>, done = () => {}): void {
		this.call(name, args).then(done, (error) => this.stopped || this.load.told.failed(`${name} of ${JSON.stringify(args)}: ${error}`));
	}

	private call<N extends OperationName>(name: N, args: ArgumentsOf<N>): Promise<ResultOf<N>> {
		return new Promise((resolve, reject) => {
			this.member.send({ name, args: JSON.stringify(args), by: undefined, unhurried: name === "started" }, (outcome) => {
				if ("error" in outcome) reject(outcome.error);
				else resolve(outcome.value as ResultOf<N>);
			});
		});
	}

	private after(ms: number, call: () => void): void {
		const timer = setTimeout(() => {
			this.timers.delete(timer);
			call();
		}, ms);
		this.timers.add(timer);
	}

	private every(ms: number, call: () => unknown): void {
		// Hosts that were started together beat at different moments.
		this.after(ms * (0.5 + Math.random()), () => {
			call();
			this.every(ms, call);
		});
	}
}
