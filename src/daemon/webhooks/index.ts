// The daemon's webhooks: a sender for each that is configured, while this host leads. What they have delivered is in the store, so another leader goes on there.

import { noSuch } from "../../api/known.ts";
import type { Clock, Host } from "../../contracts/host.ts";
import type { Log } from "../../contracts/log.ts";
import type { Scheduler } from "../../contracts/scheduler.ts";
import { createTurns } from "../../contracts/turns.ts";
import type { WebhookRecord, Webhooks, WebhookTest, WebhookView } from "../../contracts/webhook.ts";
import { messageOf } from "../../core/errors.ts";
import type { WebhookSettings } from "../../core/schema/webhook.ts";
import { deliveryId, testBody } from "./payload.ts";
import { attemptDelivery, keysOf, type RequestParts } from "./request.ts";
import { Sender } from "./sender.ts";

type Configured = Record<string, WebhookSettings>;

export type WebhookParts = {
	scheduler: Pick<Scheduler, "events" | "show" | "lastEvent" | "leads" | "watch" | "webhooks">;
	host: Pick<Host, "after">;
	clock: Clock;
	chance: () => number;
	/** A fresh random text. */
	unique: () => string;
	log: Log;
	request: RequestParts;
	/** The id of the store. */
	queue: () => Promise<string>;
	secretNames: () => readonly string[];
	/** "others": several hosts share the store, and only the leader sends. */
	company: "alone" | "others";
};

/** How often a host checks whether it has become the leader, or no longer is. */
const LEAD_MS = 2000;

export class DaemonWebhooks implements Webhooks {
	private readonly senders = new Map<string, Sender>();
	private readonly turns = createTurns();
	private readonly unwatch: () => void;
	private configured: Configured = {};
	private cancel = () => {};
	private state: "new" | "on" | "stopped" = "new";

	constructor(private readonly parts: WebhookParts) {
		this.unwatch = parts.scheduler.watch(({ events, heard }) => {
			if (this.senders.size === 0) return;
			for (const { kind, data } of [...events, ...heard]) if (kind === "webhook_retried") this.senders.get(data.webhook)?.hurry(data.from);
		});
	}

	// ---- for methods ----------------------------------------------------------------------------------------------------------------

	async list(): Promise<WebhookView[]> {
		if (Object.keys(this.configured).length === 0) return [];
		const { scheduler, clock, request } = this.parts;
		const [records, last] = [await scheduler.webhooks.read(), await scheduler.lastEvent()];
		return Object.entries(this.configured).map(([name, settings]) => {
			const record = this.senders.get(name)?.record() ?? records[name] ?? freshRecord(last, clock.now());
			return viewOf(name, settings, record, { last, reveal: request.reveal });
		});
	}

	async test(name: string): Promise<WebhookTest> {
		return testNow(this.parts, name, this.settingsOf(name));
	}

	async retry(name: string, { from, by }: { from?: number; by: string }): Promise<void> {
		this.settingsOf(name);
		await this.parts.scheduler.webhooks.retry(name, { by, ...(from === undefined ? {} : { from }) });
	}

	private settingsOf(name: string): WebhookSettings {
		const found = Object.hasOwn(this.configured, name) ? this.configured[name] : undefined;
		if (found) return found;
		throw noSuch("webhook", name, Object.keys(this.configured), "webhook list shows those that there are");
	}

	// ---- for the daemon -------------------------------------------------------------------------------------------------------------

	/** Takes over the configured webhooks; sends nothing before `start`. Resolves when every event from then on is meant for the new ones, too. */
	async reload(next: Configured): Promise<void> {
		this.configured = next;
		await this.turns
			.inTurn(() => this.readRecords(Object.keys(next)))
			.catch((error) => this.parts.log.warn("webhooks begin with the next event", { error: messageOf(error) }));
		if (this.state !== "on") return;
		// A changed address or secret may have repaired what failed.
		for (const one of this.senders.values()) one.hurry();
		this.look();
	}

	start(): void {
		this.state = "on";
		this.look();
	}

	async stop(): Promise<void> {
		this.state = "stopped";
		this.cancel();
		this.unwatch();
		await this.turns.idle();
		await this.stopAll("keep");
	}

	private look(): void {
		const { host, log } = this.parts;
		void this.turns
			.inTurn(() => this.lookAround())
			.catch((error) => {
				log.error("webhooks could not be started", { error: messageOf(error) });
				if (this.state === "on") this.cancel = host.after(LEAD_MS, () => this.look());
			});
	}

	private async lookAround(): Promise<void> {
		if (this.state !== "on") return;
		this.cancel();
		for (const [name, one] of this.senders) {
			if (Object.hasOwn(this.configured, name)) continue;
			this.senders.delete(name);
			await one.stop("keep");
		}
		const names = Object.keys(this.configured);
		if (names.length === 0) return;
		const { company, host, scheduler } = this.parts;
		if (company === "others") {
			this.cancel = host.after(LEAD_MS, () => this.look());
			if (!(await scheduler.leads())) return this.stopAll("leave");
		}
		const missing = names.filter((name) => !this.senders.has(name));
		if (missing.length > 0) await this.startSome(missing);
	}

	private async startSome(names: readonly string[]): Promise<void> {
		const { secretNames, queue: identify } = this.parts;
		const queue = await identify();
		for (const [name, record] of await this.readRecords(names)) {
			const sending = { queue, webhook: name, secretNames: secretNames() };
			const sender = new Sender({ ...this.parts, sending, settings: () => this.configured[name] }, record);
			this.senders.set(name, sender);
			sender.start();
		}
	}

	/** The records of these webhooks. A new webhook begins after the last event: its record is stored at once. */
	private async readRecords(names: readonly string[]): Promise<[name: string, record: WebhookRecord][]> {
		if (names.length === 0) return [];
		const { scheduler, clock } = this.parts;
		const [records, last] = [await scheduler.webhooks.read(), await scheduler.lastEvent()];
		const found: [string, WebhookRecord][] = [];
		for (const name of names) {
			const known = records[name];
			// A number that is higher than any event is of another store.
			const record = known && known.cursor <= last ? known : freshRecord(last, clock.now());
			if (record !== known) await scheduler.webhooks.keep(name, record);
			found.push([name, record]);
		}
		return found;
	}

	private async stopAll(how: "keep" | "leave"): Promise<void> {
		const all = [...this.senders.values()];
		this.senders.clear();
		await Promise.all(all.map((one) => one.stop(how)));
	}
}

const freshRecord = (cursor: number, since: number): WebhookRecord => ({
	cursor,
	pending: [],
	since,
	delivered: 0,
	given_up: 0,
	delivered_at: null,
	delivered_seq: null,
	failed_at: null,
	error: null,
	failures: 0,
	retry_at: null,
});

type Seen = { last: number } & Pick<RequestParts, "reveal">;

function viewOf(name: string, settings: WebhookSettings, { pending, ...record }: WebhookRecord, { last, reveal }: Seen): WebhookView {
	const keys = keysOf(settings, reveal);
	const [waiting, behind] = [pending.length, Math.max(0, last - record.cursor)];
	const isBusy = waiting > 0;
	return {
		...record,
		name,
		to: new URL(settings.url).origin,
		enabled: settings.enabled,
		state: !settings.enabled ? "off" : record.error !== null ? "failing" : isBusy ? "sending" : "idle",
		waiting,
		behind,
		problem: "problem" in keys ? keys.problem : null,
	};
}

async function testNow(parts: WebhookParts, name: string, settings: WebhookSettings): Promise<WebhookTest> {
	const began = parts.clock.monotonic();
	const sending = { queue: await parts.queue(), webhook: name, secretNames: parts.secretNames() };
	const id = `test-${parts.unique()}`;
	const body = testBody(sending, id, parts.clock.now(), "test");
	const result = await attemptDelivery(parts.request, settings, {
		webhook: name,
		id: deliveryId(sending, id),
		kind: "test",
		attempt: 1,
		body,
	});
	const took_ms = Math.round(parts.clock.monotonic() - began);
	return {
		delivered: result.is === "delivered",
		status: result.status,
		took_ms,
		error: result.is === "failed" ? result.error : null,
		answer: result.text,
	};
}
