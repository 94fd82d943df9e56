// How PostgreSQL goes about what the engine asks: however many jobs there are, it looks at about as many rows as it answers with.

import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Server, startServer } from "../../../test/make/stores/postgres-server.ts";
import type { StoreRead } from "../../contracts/store.ts";
import { localHost, systemClock } from "../../host/local.ts";
import { openScheduler } from "../../open.ts";
import { addressOf } from "../address.ts";
import { settings } from "./dialect.ts";
import { runHost } from "./schema.ts";
import { openSnapshots } from "./snapshots.ts";

let server: Server;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server?.end());

const JOBS = 20_000;
type Node = { "Node Type": string; "Actual Rows": number; "Rows Removed by Filter"?: number; Plans?: Node[] };
const rowsOf = (node: Node): number =>
	Math.max(node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0), ...(node.Plans ?? []).map(rowsOf));

const PLACE = { rank: 0, level: 0, age_at: 1, id: 50 };
const READS: StoreRead[] = [
	{ read: "jobs", ids: [1, 2, 3] },
	{ read: "done", ids: [1, 2, 3] },
	{ read: "specs", ids: [1, 2, 3] },
	{ read: "line", line: "", bucket: 1, limit: 10 },
	{ read: "line", line: "", bucket: 1, below: PLACE, limit: 10 },
	{ read: "line", line: "", bucket: 1, after: PLACE, limit: 10 },
	{ read: "ahead", bucket: 1, ...PLACE, limit: 10 },
	{ read: "oldest", bucket: 1, limit: 10 },
	{ read: "buckets", line: "" },
	{ read: "waiters", lines: ["lock:shared:a", "lock:exclusive:a"], limit: 10 },
	{ read: "due", now: 0, limit: 10 },
	{ read: "edges", pred: 1, after: 0, limit: 10 },
	{ read: "fan", preds: [1, 2], limit: 10 },
	{ read: "preds", job: 1, from: 0, limit: 10 },
	{ read: "preds_of", jobs: [1, 2] },
	{ read: "links", key: "a", role: "needs", after: 0, limit: 10 },
	{ read: "locks", keys: ["a", "b"], lines: ["lock:shared:a"], limit: 10 },
	{ read: "records", kind: "name", keys: ["a"] },
	{ read: "runs", job: 1 },
	{ read: "events", since: 100, limit: 10 },
	{ read: "history", job: 7 },
	{ read: "active", filter: {}, after: 0, limit: 10 },
	{ read: "running", after: 0, limit: 10 },
	{ read: "running", host: "a", after: 0, limit: 10 },
	{ read: "ended", filter: {}, after: 0, limit: 10 },
	{ read: "old", before: 10, after: { ended_at: 0, id: 0 }, limit: 10 },
	{ read: "recent", before: { ended_at: 10, id: 0 }, limit: 10 },
	{ read: "range", from: 5, to: 9, limit: 10 },
	{ read: "ended_in", from: 5, to: 9 },
	{ read: "failures", since: 0, limit: 10 },
];

test("what claims, ends and looks read, prepared and with the planner's statistics up to date", async () => {
	const url = `${server.url()}?schema=plans`;
	const filler = await openScheduler({ url, join: { name: "filler" }, config: { max_concurrent: 100, safety_cap: 0 } });
	for (let from = 0; from < JOBS; from += 5000)
		await filler.apply({ jobs: Array.from({ length: 5000 }, (_, n) => ({ payload: { n }, priority: n % 3 })) });
	await filler.close();
	const admin = new pg.Client({ connectionString: server.url() });
	await admin.connect();
	onTestFinished(() => admin.end());
	await admin.query("ANALYZE");

	// What the leader asks that begins, what it asks in the middle of its work, and what the reads of the contract ask.
	const asked = new Map<string, unknown[]>();
	const plain = pg.Client.prototype.query;
	onTestFinished(() => {
		pg.Client.prototype.query = plain;
	});
	pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
		const config = args[0] as { text?: string; values?: unknown[] };
		if (config?.text?.match(/^(?:SELECT|WITH RECURSIVE)/) && config.text.includes('"plans"')) asked.set(config.text, config.values ?? []);
		return Reflect.apply(plain, this, args);
	} as typeof plain;
	const leader = await openScheduler({ url, join: { name: "a" } });
	for (let round = 0; round < 5; round++)
		for (const { job, run } of await leader.claim({ worker: "a", max: 1, host: "a" })) {
			await leader.show(job.id);
			await leader.why(job.id + 100);
			await leader.complete({ job: job.id, token: run.token, exit_kind: "completed", exit_code: 0 });
		}
	await leader.status();
	await leader.close();
	const snapshots = openSnapshots(addressOf(url), {
		patienceMs: 20_000,
		name: "plans",
		monotonic: systemClock.monotonic,
		after: localHost.after,
	});
	await snapshots.begin();
	for (const request of READS) await snapshots.read(request);
	await snapshots.close();
	pg.Client.prototype.query = plain;

	await admin.query(settings("SESSION"));
	const far: string[] = [];
	let count = 0;
	for (const [text, values] of asked) {
		await admin.query(`PREPARE p${++count} AS ${text.replace(" FOR UPDATE", "")}`);
		const literal = (value: unknown) => admin.escapeLiteral(Array.isArray(value) ? `{${value.join(",")}}` : String(value));
		const given = values.map((value) => (value === null ? "NULL" : literal(value))).join(", ");
		const { rows } = await admin.query(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE p${count}${values.length > 0 ? `(${given})` : ""}`);
		const [{ Plan: plan }] = rows[0]["QUERY PLAN"] as [{ Plan: Node }];
		if (rowsOf(plan) > 2000) far.push(`${rowsOf(plan)} rows: ${text}`);
	}
	expect(count).toBeGreaterThan(READS.length);
	const assigned = `SELECT doc FROM "plans".job WHERE line = 'run' AND ${runHost("plans")} = 'a'`;
	const { rows } = await admin.query(`EXPLAIN (FORMAT JSON) ${assigned}`);
	expect(JSON.stringify(rows)).toContain("job_assigned");
	expect(far).toEqual([]);
});

test("what is written to many rows is found row by row, though its plans were made when there were few", async () => {
	const url = `${server.url()}?schema=writes`;
	const sluice = await openScheduler({ url, join: { name: "w" }, config: { max_concurrent: -1, safety_cap: 0 }, drive: "manual" });
	let made = 0;
	// Those that share theirs have a record while they run.
	const lock = () => (++made % 2 === 0 ? { key: `own-${made}`, mode: "shared" as const } : `own-${made}`);
	const add = (count: number) => Promise.all(Array.from({ length: count }, () => sluice.add({ payload: {}, locks: [lock()] })));
	const claim = async (max: number) => {
		const claimed = await sluice.claim({ worker: "w", max });
		expect(claimed).toHaveLength(max);
		return claimed;
	};
	const end = (claimed: Awaited<ReturnType<typeof claim>>) =>
		Promise.all(claimed.map(({ job, run }) => sluice.complete({ job: job.id, token: run.token, exit_kind: "completed", exit_code: 0 })));
	for (let round = 0; round < 10; round++) {
		await add(20);
		await end(await claim(20));
	}
	for (let round = 0; round < 20; round++) await add(200);
	const held = await claim(1000);
	for (let round = 0; round < 10; round++) await end(await claim(100));
	await end(held);
	await sluice.close();

	const admin = new pg.Client({ connectionString: server.url() });
	await admin.connect();
	onTestFinished(() => admin.end());
	// What a session has done is counted at the latest when it ends.
	const looked = async () => {
		const { rows } = await admin.query(
			"SELECT relname AS table, sum(idx_tup_read)::int AS rows FROM pg_stat_user_indexes WHERE schemaname = 'writes' AND relname IN ('job', 'link', 'record') GROUP BY 1",
		);
		return rows as { table: string; rows: number }[];
	};
	await expect.poll(async () => (await looked()).every(({ rows }) => rows > 0)).toBe(true);
	for (const { table, rows } of await looked()) expect(`${table} ${rows < 8 * made}`).toBe(`${table} true`);
});
