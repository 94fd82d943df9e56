// Two schedulers on one file: each finds what the other commits, without a call.

import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import type { EventRow } from "../../contracts/scheduler.ts";
import { openScheduler } from "../../open.ts";

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
