// A back-up by PostgreSQL's own programs while the leader works, and putting it back, as docs/fleet.md says. Where the machine has those programs:
// the PostgreSQL from npm comes without.

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import { dumpDatabase } from "../../../test/make/stores/dumped.ts";
import { installed, startServer } from "../../../test/make/stores/postgres-server.ts";
import type { Scheduler } from "../../contracts/scheduler.ts";
import { openScheduler } from "../../open.ts";

const run = promisify(execFile);
const programs = installed();

async function opened(url: string, name: string): Promise<Scheduler> {
	const scheduler = await openScheduler({ url, join: { name, home: `home of ${name}` }, config: { max_concurrent: 50, safety_cap: 0 } });
	onTestFinished(() => scheduler.close());
	return scheduler;
}
async function workOff(scheduler: Scheduler, host: string, max: number): Promise<number[]> {
	const claimed = await scheduler.claim({ worker: host, max, host });
	for (const { job, run } of claimed) await scheduler.complete({ job: job.id, token: run.token, exit_kind: "completed", exit_code: 0 });
	return claimed.map(({ job }) => job.id);
}

describe.skipIf(programs === undefined)("pg_dump and pg_restore", () => {
	test("under work: one moment of the queue, and all of it goes on from there", { timeout: 120_000 }, async () => {
		const server = await startServer({ programs });
		onTestFinished(server.end);
		const url = await server.makeDatabase("queue");
		const file = join(makeFolder(), "monday.dump");
		const a = await opened(url, "a");
		let dumped = false;
		const work = async (scheduler: Scheduler, host: string) => {
			for (let n = 0; !dumped || n < 20; n++) {
				const first = await scheduler.add({ payload: { n }, locks: [`l${n % 3}`] });
				if (first.outcome === "queued") await scheduler.add({ payload: { n }, after: [{ job: first.job.id }] });
				if (n % 2 === 0) await workOff(scheduler, host, 1);
			}
		};
		const working = work(a, "a");
		await run(join(programs as string, "pg_dump"), ["--format=custom", "--schema=sluice", `--file=${file}`, url]);
		dumped = true;
		await working;
		const later = await dumpDatabase(url);
		await a.close();

		await run(join(programs as string, "pg_restore"), ["--clean", "--if-exists", `--dbname=${url}`, file]);
		const restored = await dumpDatabase(url);
		expect(restored.event?.length).toBeGreaterThan(0);
		expect(restored.event?.length).toBeLessThan(later.event?.length as number);
		// What had happened by then is exactly what had happened.
		expect(restored.event).toEqual(later.event?.slice(0, restored.event?.length));
		// Every number that is counted along is what counting finds.
		const client = new pg.Client({ connectionString: url });
		await client.connect();
		onTestFinished(() => client.end());
		const { rows } = await client.query(
			"SELECT (SELECT coalesce(sum((body::json ->> 'ready')::int), 0)::int FROM sluice.record WHERE kind = 'bucket') AS counted, (SELECT count(*)::int FROM sluice.job WHERE line = '') AS ready",
		);
		expect(rows[0].counted).toBe(rows[0].ready);

		const again = await opened(url, "a");
		const open = (await again.list({ limit: 10_000 })).map(({ id }) => id).sort((x, y) => x - y);
		const done: number[] = [];
		for (;;) {
			const some = await workOff(again, "a", 10);
			if (some.length === 0) break;
			done.push(...some);
		}
		const left = (await again.list({ limit: 10_000 })).map(({ id }) => id);
		// Runs of the moment of the back-up belong to whoever had them; all others are done, once.
		expect([...done, ...left].sort((x, y) => x - y)).toEqual(open);
		expect(left.length).toBeLessThanOrEqual(2);
		const added = await again.add({ payload: {} });
		expect(added).toMatchObject({ outcome: "queued" });
	});
});
