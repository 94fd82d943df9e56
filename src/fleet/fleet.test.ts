// Several schedulers of one fleet on a real PostgreSQL: one leads, the others ask it.

import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Server, startServer } from "../../test/make/stores/postgres-server.ts";
import { until } from "../../test/make/until.ts";
import type { AddResult, OpenOptions, Scheduler } from "../contracts/scheduler.ts";
import { openScheduler } from "../open.ts";

let server: Server;
let schemas = 0;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server?.end());

/** A fleet of its own; each scheduler is a process of it. */
function fleet() {
	const url = `${server.url()}?schema=fleet_${++schemas}`;
	return async (options: Partial<OpenOptions> = {}): Promise<Scheduler> => {
		const scheduler = await openScheduler({ url, ...options });
		onTestFinished(() => scheduler.close());
		return scheduler;
	};
}

/** The job of a result that has one. */
function added(result: AddResult) {
	if (result.outcome !== "queued") throw new Error("no job was added");
	return result.job;
}

test("the first process leads; a member's calls and reads are the same as the leader's", async () => {
	const open = fleet();
	const leader = await open();
	const member = await open();
	expect([await leader.leads(), await member.leads()]).toEqual([true, false]);
	const job = added(await member.add({ command: ["true"], name: "build" }));
	expect(await leader.show(job.id)).toMatchObject({ name: "build", status: "queued" });
	expect(await member.show(job.id)).toMatchObject({ name: "build", status: "queued" });
	await expect(member.add({ command: ["true"], name: "build" })).rejects.toMatchObject({ code: "conflict", field: "name" });
	const [claimed] = await member.claim({ worker: "w" });
	expect(claimed?.job.id).toBe(job.id);
	await member.complete({ job: job.id, token: claimed?.run.token ?? 0, exit_kind: "completed", exit_code: 0 });
	expect(await leader.show(job.id)).toMatchObject({ status: "succeeded" });
});

test("work is done by members, and spread over them", async () => {
	const open = fleet();
	const leader = await open();
	const members = [await open(), await open()];
	const done: number[][] = [[], []];
	for (const [index, member] of members.entries())
		member.work("default", async ({ job }) => void done[index]?.push(job.id), { concurrency: 4 });
	for (let n = 0; n < 40; n++) await leader.add({ payload: { n } });
	await until(() => done.flat().length === 40);
	expect(new Set(done.flat()).size).toBe(40);
	expect(done.every((some) => some.length > 0)).toBe(true);
});

test("when the leader closes, another process leads and nothing is lost", async () => {
	const open = fleet();
	const first = await open();
	const second = await open();
	await first.add({ command: ["true"], name: "one" });
	await first.close();
	const job = added(await second.add({ command: ["true"], name: "two" }));
	expect(job.id).toBe(2);
	expect(await second.leads()).toBe(true);
	expect((await second.list()).map(({ name }) => name)).toEqual(["one", "two"]);
});

test("a member that gives up a call while the leader carries it out does not hold up the leader", async () => {
	const open = fleet();
	const leader = await open();
	for (let round = 0; round < 5; round++) {
		const member = await open({ lead: "never" });
		const plan = member.plan().catch(() => {});
		await member.close();
		await plan;
		await leader.add({ payload: { round } });
	}
	expect(await leader.list()).toHaveLength(5);
});

test("what only time allows to start is started for a claim that stands", async () => {
	const open = fleet();
	const settings = { config: { spawn_delay_ms: 100 }, settings: "shared" } as const;
	const leader = await open(settings);
	const member = await open({ ...settings, lead: "never" });
	const started: number[] = [];
	member.work("default", async ({ job }) => void started.push(job.id), { concurrency: 10 });
	for (let n = 0; n < 4; n++) await leader.add({ payload: { n } });
	await until(() => started.length === 4);
});

test("more calls than a member may have open: claims stand all the same, and work goes on", async () => {
	const open = fleet();
	await open();
	const member = await open({ lead: "never" });
	const results = await Promise.allSettled(Array.from({ length: 1010 }, (_, n) => member.add({ payload: { n } })));
	const refused = results.filter(({ status }) => status === "rejected");
	expect(refused.length).toBeGreaterThan(0);
	expect(refused[0]).toMatchObject({ reason: { code: "limit" } });
	let done = 0;
	member.work("default", async () => void done++, { concurrency: 50 });
	await until(() => done === 1010 - refused.length);
});

test("30 processes of a database listen at most: a process that gets no place polls", async () => {
	const admin = new pg.Client({ connectionString: server.url() });
	await admin.connect();
	onTestFinished(() => admin.end());
	await admin.query("SELECT pg_try_advisory_lock(key, hashtext('')) FROM generate_series(7551240, 7551269) AS key");
	const open = fleet();
	await open();
	const member = await open({ lead: "never" });
	expect(added(await member.add({ command: ["true"] })).id).toBe(1);
	const { rows } = await admin.query("SELECT count(*)::int AS n FROM pg_locks WHERE classid BETWEEN 7551240 AND 7551300");
	expect(rows).toEqual([{ n: 30 }]);
});

test("the settings of the store count for a process that brings its own, also when it leads", async () => {
	const open = fleet();
	const daemon = await open({ config: { max_concurrent: 1 }, settings: "shared" });
	const program = await open();
	for (let n = 0; n < 3; n++) await daemon.add({ payload: { n } });
	expect(await daemon.claim({ worker: "w", max: 3 })).toHaveLength(1);
	await daemon.close();
	expect(await program.claim({ worker: "w", max: 3 })).toHaveLength(0);
	expect([await program.leads(), program.config().max_concurrent]).toEqual([true, 1]);
});

test("a new leader of a fleet in which nothing happens gives up a host that is silent", async () => {
	const open = fleet();
	const settings = { config: { stale_after_ms: 1200 }, settings: "shared" } as const;
	const host = await open({ ...settings, join: { name: "a", home: "home-a" } });
	const other = await open(settings);
	await host.add({ command: ["true"] });
	const [claimed] = await host.claim({ worker: "host:a", host: "a" });
	expect(claimed?.run.host).toBe("a");
	await host.close();
	await until(async () => (await other.hosts()).find(({ name }) => name === "a")?.gone === "lost");
	await until(async () => (await other.list())[0]?.status === "queued");
});

test("a manifest and a prompt that one process may send, a member may send, too", async () => {
	const open = fleet();
	await open();
	const member = await open({ lead: "never" });
	const prompt = "x".repeat(15_000);
	const jobs = Array.from({ length: 100 }, () => ({ agent: "claude", prompt }));
	expect((await member.apply({ jobs })).jobs).toHaveLength(100);
});

test("a leader whose epoch was raised by another changes nothing; its calls are carried out by the next", async () => {
	const open = fleet();
	const leader = await open();
	await leader.add({ payload: 1 });
	const admin = new pg.Client({ connectionString: server.url() });
	await admin.connect();
	onTestFinished(() => admin.end());
	await admin.query(`UPDATE "fleet_${schemas}".head SET epoch = epoch + 1`);
	const job = added(await leader.add({ payload: 2 }));
	expect(job.id).toBe(2);
	expect((await admin.query(`SELECT count(*)::int AS terms FROM "fleet_${schemas}".term`)).rows).toEqual([{ terms: 2 }]);
});

test("an error of the kernel's contract is the same at a member", async () => {
	const open = fleet();
	const leader = await open();
	const member = await open({ lead: "never" });
	const wrong = { sched_id: 77 } as never;
	const [here, there] = await Promise.all([leader, member].map((one) => one.kernel.complete(wrong).catch((error: unknown) => error)));
	expect(there).toMatchObject({ ...(here as object) });
});

test("a database that is restored under a running leader: its term ends, numbers go on far beyond, and an event says so", async () => {
	const open = fleet();
	const leader = await open();
	const member = await open({ lead: "never" });
	const admin = new pg.Client({ connectionString: server.url() });
	await admin.connect();
	onTestFinished(() => admin.end());
	const schema = `fleet_${schemas}`;
	const tables = ["job", "spec", "event", "record", "head"];
	await leader.add({ payload: 1 });
	for (const table of tables) await admin.query(`CREATE TABLE "${schema}".kept_${table} AS SELECT * FROM "${schema}".${table}`);
	for (let n = 2; n < 6; n++) await leader.add({ payload: n });
	expect(await member.list()).toHaveLength(5);
	const back = tables.map(
		(table) => `DELETE FROM "${schema}".${table}; INSERT INTO "${schema}".${table} SELECT * FROM "${schema}".kept_${table};`,
	);
	await admin.query(`BEGIN; ${back.join(" ")} COMMIT;`);
	const job = added(await leader.add({ payload: "after" }));
	expect(job.id).toBeGreaterThan(10_000);
	expect((await leader.list()).map(({ id }) => id)).toEqual([1, job.id]);
	expect((await member.list()).map(({ id }) => id)).toEqual([1, job.id]);
	const { rows } = await admin.query(`SELECT count(*)::int AS told FROM "${schema}".event WHERE kind = 'store_restored'`);
	expect(rows).toEqual([{ told: 1 }]);
});

test("a member plans as the leader does, also what needs reads behind the first starts", async () => {
	const open = fleet();
	const lanes = Object.fromEntries(Array.from({ length: 7 }, (_, n) => [`lane-${n}`, { max: 100 }]));
	const config = { max_concurrent: 500, safety_cap: 0, lanes };
	const leader = await open({ config });
	const member = await open({ config, lead: "never" });
	const input = (n: number) => ({ command: ["true"], lane: `lane-${n % 7}`, locks: n % 3 === 0 ? [`lock-${n % 9}`] : [], priority: n % 5 });
	await Promise.all(Array.from({ length: 300 }, (_, n) => leader.add(input(n))));
	const plan = await leader.plan({ max: 500 });
	expect(plan.dispatch.length).toBeGreaterThan(150);
	expect((await member.plan({ max: 500 })).dispatch).toEqual(plan.dispatch);
});
