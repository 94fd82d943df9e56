// A store that is restored to an earlier state while a process has it open: no id is given out twice, and hosts keep their leases.

import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import { withDatabase } from "../../../test/make/stores/store-file.ts";
import type { EventRow, Scheduler } from "../../contracts/scheduler.ts";
import { openScheduler } from "../../open.ts";
import { TABLES } from "../../stores/moving/tables.ts";

const keep = (path: string, copy: string) => withDatabase(path, (database) => database.prepare("VACUUM INTO ?").run(copy));
/** Restores a copy into the database while a scheduler has it open. */
const putBack = (path: string, copy: string) =>
	withDatabase(path, (database) => {
		database.exec(`ATTACH '${copy}' AS kept; BEGIN IMMEDIATE`);
		for (const { name } of TABLES) database.exec(`DELETE FROM main.${name}; INSERT INTO main.${name} SELECT * FROM kept.${name}`);
		database.exec("COMMIT");
	});

async function opened(path: string): Promise<Scheduler> {
	const scheduler = await openScheduler({ path, join: { name: "here", home: "tag" } });
	onTestFinished(() => scheduler.close());
	return scheduler;
}
async function add(scheduler: Scheduler): Promise<number> {
	const added = await scheduler.add({ command: ["true"] });
	return added.outcome === "queued" ? added.job.id : -1;
}
async function eventsOf(scheduler: Scheduler): Promise<EventRow[]> {
	const [rows, last] = [[] as EventRow[], await scheduler.lastEvent()];
	for await (const row of scheduler.events({ since: 0 })) {
		rows.push(row);
		if (row.seq >= last) break;
	}
	return rows;
}

test("ids of jobs, tokens and events continue beyond what was seen, and a late report of a forgotten run is refused", async () => {
	const folder = makeFolder();
	const [path, copy] = [join(folder, "a.db"), join(folder, "copy.db")];
	const scheduler = await opened(path);
	expect(await add(scheduler)).toBe(1);
	keep(path, copy);
	expect([await add(scheduler), await add(scheduler)]).toEqual([2, 3]);
	const [first, second] = await scheduler.claim({ worker: "w", max: 2 });
	const seen = await scheduler.lastEvent();
	putBack(path, copy);

	const next = await add(scheduler);
	expect(next).toBeGreaterThan(3);
	const events = await eventsOf(scheduler);
	const restored = events.find(({ kind }) => kind === "store_restored");
	expect(restored).toMatchObject({ data: { job: 1, seen_job: 3, seen_seq: seen } });
	expect(restored?.seq).toBeGreaterThan(seen);
	expect((await scheduler.list()).map(({ id }) => id)).toEqual([1, next]);
	const claimed = await scheduler.claim({ worker: "w", max: 2 });
	const old = [first?.run.token, second?.run.token];
	for (const { run } of claimed) expect(old).not.toContain(run.token);
	await expect(
		scheduler.complete({ job: first?.job.id as number, token: first?.run.token as number, exit_kind: "completed", exit_code: 0 }),
	).rejects.toMatchObject({ code: "fenced" });
	expect((await scheduler.hosts())[0]).toMatchObject({ name: "here", state: "live" });
	// Only once: what follows is an ordinary commit of another process.
	const other = await opened(path);
	expect(await add(other)).toBe(next + 1);
	expect(await add(scheduler)).toBe(next + 2);
	expect((await eventsOf(scheduler)).filter(({ kind }) => kind === "store_restored")).toHaveLength(1);
});

test("a process that opens the restored store for the first time finds an ordinary store", async () => {
	const folder = makeFolder();
	const [path, copy] = [join(folder, "a.db"), join(folder, "copy.db")];
	const scheduler = await opened(path);
	await add(scheduler);
	keep(path, copy);
	await scheduler.close();
	const other = await opened(copy);
	expect(await add(other)).toBe(2);
	expect((await eventsOf(other)).map(({ kind }) => kind)).not.toContain("store_restored");
});
