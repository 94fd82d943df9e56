// GET /events on a real port: replay, gaps, coming back, slow readers, heartbeats.

import { get, type IncomingMessage } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { NO_PROGRESS } from "../../src/core/runs/progress.ts";
import type { ProgressOfRun } from "../../src/supervisor/index.ts";
import type { Desk } from "../make/daemons/served.ts";
import { openDesk, openDoors, TOKENS } from "../make/daemons/served.ts";

type Event = { id: number; event: string; data: Record<string, unknown> };

/** A reader of one stream: events one by one, comments counted. */
class Reader {
	readonly events: Event[] = [];
	comments = 0;
	over = false;
	private text = "";
	private wake: (() => void)[] = [];

	private constructor(readonly response: IncomingMessage) {
		response.setEncoding("utf8");
		response.on("data", (chunk: string) => {
			this.text += chunk;
			const frames = this.text.split("\n\n");
			this.text = frames.pop() as string;
			for (const frame of frames) this.take(frame);
			this.stir();
		});
		response.on("error", () => {});
		response.on("close", () => {
			this.over = true;
			this.stir();
		});
	}

	static open(url: string, path: string, headers: Record<string, string> = {}): Promise<Reader> {
		return new Promise((resolve, reject) => {
			const out = get(`${url}${path}`, { agent: false, headers: { Authorization: `Bearer ${TOKENS.viewer}`, ...headers } }, (response) => {
				onTestFinished(() => void response.destroy());
				resolve(new Reader(response));
			});
			out.on("error", reject);
		});
	}

	private stir(): void {
		for (const call of this.wake.splice(0)) call();
	}

	private take(frame: string): void {
		const fields = new Map<string, string>();
		for (const line of frame.split("\n")) {
			if (line.startsWith(":")) this.comments++;
			else fields.set(line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2));
		}
		if (fields.size > 0)
			this.events.push({
				id: Number(fields.get("id")),
				event: fields.get("event") as string,
				data: JSON.parse(fields.get("data") as string),
			});
	}

	async until(enough: () => boolean): Promise<void> {
		while (!enough()) {
			if (this.over) throw new Error("the stream ended");
			await new Promise<void>((resolve) => this.wake.push(resolve));
		}
	}

	async seen(seq: number): Promise<Event[]> {
		await this.until(() => this.events.some(({ id }) => id >= seq));
		return this.events;
	}
}

const mark = (desk: Desk, n: number) => desk.t.sluice.mark(`custom:test:${n}`);

describe("/events", () => {
	test("tells what happens from now on, each with its number", async () => {
		const desk = await openDesk();
		await mark(desk, 0);
		const { url } = await openDoors(desk);
		const reader = await Reader.open(url, "/events");
		expect(reader.response.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
		const last = await desk.t.sluice.lastEvent();
		await desk.t.add({ name: "build" });
		const events = await reader.seen(last + 1);
		expect(events).toEqual([
			{
				id: last + 1,
				event: "added",
				data: {
					seq: last + 1,
					at: "2026-01-05T12:00:00.000Z",
					kind: "added",
					job: 1,
					by: "test",
					data: expect.objectContaining({ to: "queued" }),
				},
			},
		]);
	});

	test("a caller has so many streams at most; another caller still gets one, and so does the first when one of its own is closed", async () => {
		const desk = await openDesk();
		const { url } = await openDoors(desk, { stream: { maxStreams: 3 } });
		const readers = await Promise.all([1, 2, 3].map(() => Reader.open(url, "/events")));
		const more = await Reader.open(url, "/events");
		expect([more.response.statusCode, more.response.headers["retry-after"]]).toEqual([429, "1"]);
		const other = await Reader.open(url, "/events", { Authorization: `Bearer ${TOKENS.admin}` });
		expect(other.response.statusCode).toBe(200);
		readers[0]?.response.destroy();
		let status: number | undefined = 429;
		while (status === 429) status = (await Reader.open(url, "/events")).response.statusCode;
		expect(status).toBe(200);
	});

	test("replays from a number, and goes on without a seam", async () => {
		const desk = await openDesk();
		const { url } = await openDoors(desk);
		for (let n = 0; n < 1200; n++) void mark(desk, n);
		await mark(desk, 1200);
		const reader = await Reader.open(url, "/events?since=0");
		for (let n = 1201; n < 1300; n++) void mark(desk, n);
		await mark(desk, 1300);
		const last = await desk.t.sluice.lastEvent();
		const ids = (await reader.seen(last)).map(({ id }) => id);
		expect(ids).toEqual(Array.from({ length: last }, (_, index) => index + 1));
	});

	test("whoever comes back with the last number it saw has missed nothing, however often it is cut off", async () => {
		const desk = await openDesk();
		const { url } = await openDoors(desk);
		let n = 0;
		const ids: number[] = [];
		let last = "0";
		for (let round = 0; round < 15; round++) {
			// The address still has the first number: the header counts.
			const reader = await Reader.open(url, "/events?since=0", { "Last-Event-ID": last });
			for (let count = 0; count < 20; count++) void mark(desk, n++);
			await mark(desk, n++);
			await reader.until(() => reader.events.length >= 1 + (round % 7));
			reader.response.destroy();
			// What arrived is what counts, be it part of what was sent.
			ids.push(...reader.events.map(({ id }) => id));
			last = String(ids[ids.length - 1]);
		}
		const newest = await desk.t.sluice.lastEvent();
		const reader = await Reader.open(url, "/events", { "Last-Event-ID": last });
		if (Number(last) < newest) ids.push(...(await reader.seen(newest)).map(({ id }) => id));
		expect(ids).toEqual(Array.from({ length: newest }, (_, index) => index + 1));
	});

	test("says when it cannot replay: what gc forgot, and numbers that never were", async () => {
		const desk = await openDesk();
		await mark(desk, 1);
		await desk.t.done();
		await mark(desk, 2);
		const before = await desk.t.sluice.lastEvent();
		desk.t.clock.pass(30 * 86_400_000);
		expect((await desk.t.sluice.gc({ days: 1 })).deleted).toBe(1);
		const last = await desk.t.sluice.lastEvent();
		const { url } = await openDoors(desk);
		const events = await (await Reader.open(url, "/events?since=0")).seen(last);
		expect(events.map(({ event }) => event)).toEqual(["host_joined", "marked", "gap", "marked", "gc"]);
		// The gap's own number is where it ends: coming back with it goes on behind it.
		expect(events[2]).toEqual({ id: before - 1, event: "gap", data: { from: 3, to: before - 1 } });
		const ahead = await Reader.open(url, `/events?since=${last + 1000}`);
		expect((await ahead.seen(last))[0]).toEqual({ id: last, event: "gap", data: { from: last + 1, to: last + 1000 } });
		await mark(desk, 3);
		expect((await ahead.seen(last + 1))[1]).toMatchObject({ id: last + 1, event: "marked" });
	});

	test("a number that is none: 400", async () => {
		const { url } = await openDoors(await openDesk());
		for (const since of ["x", "-1", "1.5", "99999999999999999999", ""]) {
			const reader = await Reader.open(url, `/events?since=${since}`);
			expect([since, reader.response.statusCode]).toEqual([since, 400]);
		}
	});

	test("beats its heart, and cuts off who has not read for long; it comes back where it was", async () => {
		const desk = await openDesk();
		const { url } = await openDoors(desk, { stream: { heartbeatMs: 5, stallMs: 50 } });
		const quiet = await Reader.open(url, "/events");
		await quiet.until(() => quiet.comments >= 3);
		const slow = await Reader.open(url, "/events?since=0");
		slow.response.pause();
		const big = "x".repeat(900);
		for (let n = 0; n < 8000; n++) void desk.t.sluice.mark(`custom:${n}:${big}`);
		await mark(desk, 1);
		const last = await desk.t.sluice.lastEvent();
		// Nothing piles up for it here; others are told meanwhile.
		await quiet.seen(last);
		const beats = quiet.comments;
		await quiet.until(() => quiet.comments > beats + 40);
		// Only whoever reads notices that the other side is gone.
		slow.response.resume();
		await slow.until(() => false).catch(() => {});
		const ids = slow.events.map(({ id }) => id);
		const again = await Reader.open(url, "/events", { "Last-Event-ID": String(ids[ids.length - 1] ?? 0) });
		ids.push(...(await again.seen(last)).map(({ id }) => id));
		expect(ids.slice(0, last)).toEqual(Array.from({ length: last }, (_, index) => index + 1));
	}, 60_000);

	test("ends when the doors close, and when the scheduler does", async () => {
		const desk = await openDesk();
		const { url, serving } = await openDoors(desk);
		const one = await Reader.open(url, "/events?since=0");
		await one.seen(1);
		await desk.t.sluice.close();
		await one.until(() => one.over).catch(() => {});
		expect(one.over).toBe(true);
		await serving.close();
	});

	describe("progress of live runs", () => {
		const progress = (job: number, turns: number): ProgressOfRun => ({ job, attempt: 1, at: 0, progress: { ...NO_PROGRESS, turns } });
		const told = (reader: Reader) => reader.events.filter(({ event }) => event === "progress");

		test("comes without a number: of each run at first, then at most once a second, the latest state always, none after the end", async () => {
			const desk = await openDesk();
			desk.pretended.progress = [progress(1, 3), progress(2, 1)];
			const { url } = await openDoors(desk);
			const reader = await Reader.open(url, "/events");
			await reader.until(() => told(reader).length === 2);
			expect(told(reader)[0]).toMatchObject({
				id: Number.NaN,
				data: { kind: "progress", job: 1, attempt: 1, turns: 3, lines_added: null },
			});
			const began = performance.now();
			for (let turns = 4; turns <= 50; turns++) {
				desk.pretended.progress = [progress(1, turns), progress(2, 1)];
				for (const call of desk.pretended.listeners) call([progress(1, turns)]);
				await desk.context.host.turn();
			}
			// It ends before its next frame is due.
			for (const call of desk.pretended.listeners) call([progress(2, 2)]);
			desk.pretended.progress = [progress(1, 50)];
			await reader.until(() => told(reader).some(({ data }) => data.turns === 50));
			expect(performance.now() - began).toBeGreaterThan(900);
			expect(told(reader).map(({ data }) => [data.job, data.turns])).toEqual([
				[1, 3],
				[2, 1],
				[1, 50],
			]);
			reader.response.destroy();
			while (desk.pretended.listeners.size > 0) await desk.context.host.turn();
		});

		test("a client that comes back gets the present state, and an answer that ends has it too", async () => {
			const desk = await openDesk();
			await mark(desk, 0);
			desk.pretended.progress = [progress(1, 7)];
			const { url } = await openDoors(desk);
			const back = await Reader.open(url, "/events", { "last-event-id": String(await desk.t.sluice.lastEvent()) });
			await back.until(() => told(back).length > 0);
			expect(told(back)).toMatchObject([{ data: { job: 1, turns: 7 } }]);
			const once = await Reader.open(url, "/events?since=0&once");
			await once.until(() => told(once).length > 0);
			expect(once.events.map(({ event }) => event)).toEqual(["host_joined", "marked", "progress"]);
		});
	});
});
