// Two schedulers on one file: each is notified of what the other commits, without a call.

import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { FakeClock } from "../../../test/make/fakes.ts";
import { makeFolder } from "../../../test/make/folder.ts";
import type { EventRow } from "../../contracts/scheduler.ts";
import type { Store } from "../../contracts/store.ts";
import { localHost } from "../../host/local.ts";
import { openScheduler } from "../../open.ts";
import { listenForOthers } from "./listening.ts";

async function two(poll_others_ms: number | undefined) {
	const path = join(makeFolder(), "sluice.db");
	const open = (name: string) =>
		openScheduler({ path, join: { name }, by: name, ...(poll_others_ms === undefined ? {} : { poll_others_ms }) });
	const [a, b] = [await open("a"), await open("b")];
	onTestFinished(() => a.close());
	onTestFinished(() => b.close());
	return { a, b };
}

test("a stop that one process requests reaches the process that has the run", async () => {
	const { a, b } = await two(5);
	const added = await a.add({ command: ["true"] });
	const job = added.outcome === "queued" ? added.job.id : 0;
	await a.claim({ worker: "w", host: "a" });
	const heard = new Promise<EventRow>((resolve) => {
		const off = a.watch((news) => {
			const found = news.heard.find(({ kind }) => kind === "stop_asked");
			if (!found) return;
			off();
			resolve(found);
		});
	});
	await b.cancel(job, { reason: "enough" });
	expect(await heard).toMatchObject({ job, kind: "stop_asked", by: "b" });
});

test("a process hears its own events not again, and each event of another process once", async () => {
	const { a, b } = await two(undefined);
	const seqs: { events: number[]; heard: number[] } = { events: [], heard: [] };
	a.watch(({ events, heard }) => {
		seqs.events.push(...events.filter(({ kind }) => kind === "added").map(({ seq }) => seq));
		seqs.heard.push(...heard.filter(({ kind }) => kind === "added").map(({ seq }) => seq));
	});
	for (let round = 0; round < 3; round++) {
		await a.add({ command: ["true"] });
		await b.add({ command: ["true"] });
		await b.add({ command: ["true"] });
	}
	await a.status();
	expect(seqs.events).toHaveLength(3);
	expect(seqs.heard).toHaveLength(6);
	expect(new Set([...seqs.events, ...seqs.heard]).size).toBe(9);
});

test("a process that finds nothing to do after notifications polls less often, and at once after a quiet time or when there was something to do", async () => {
	const clock = new FakeClock();
	const timers = new Set<{ at: number; call: () => void }>();
	let [looks, written] = [0, 0];
	let tell = () => {};
	const listen = (call: () => void) => {
		tell = call;
		return () => {};
	};
	const end = listenForOthers({
		store: { listen } as unknown as Store,
		host: {
			after(ms, call) {
				const timer = { at: clock.monotonic() + ms, call };
				timers.add(timer);
				return () => timers.delete(timer);
			},
		},
		engine: {
			async look<T>() {
				looks++;
				return undefined as T;
			},
		},
		wake: () => {},
		everyMs: undefined,
		clock,
		written: () => written,
	});
	const busy = async (ms: number) => {
		const from = looks;
		for (let at = 0; at < ms; at++) {
			clock.pass(1);
			tell();
			for (const timer of [...timers].filter(({ at }) => at <= clock.monotonic())) {
				timers.delete(timer);
				timer.call();
			}
			await localHost.turn();
		}
		return looks - from;
	};
	tell();
	expect(looks).toBe(1);
	expect(await busy(2000)).toBeLessThan(20);
	clock.pass(1000);
	expect(await busy(1)).toBe(1);
	await busy(500);
	written++;
	expect(await busy(10)).toBeGreaterThan(1);
	end();
	expect(timers.size).toBe(0);
});
