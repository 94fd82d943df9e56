// What the check-up says about a database: a good one, one that forgets, one with another clock, roles without rights.

import { readFileSync } from "node:fs";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openPostgres } from "../../../test/make/stores/postgres-alone.ts";
import { type Server, startServer } from "../../../test/make/stores/postgres-server.ts";
import { systemClock } from "../../host/local.ts";
import { openScheduler } from "../../open.ts";
import { SCHEMA_VERSION } from "../../stores/migrations/index.ts";
import { checkDatabase } from "./database-checks.ts";

let good: Server;
let bad: Server;
beforeAll(async () => {
	good = await startServer({ durability: "full" });
	bad = await startServer();
});
afterAll(() => {
	good?.end();
	bad?.end();
});

const { now } = systemClock;
const checks = async (url: string, clock = now) =>
	Object.fromEntries((await checkDatabase(url, clock)).map(({ name, ...rest }) => [name.replace("database ", ""), rest]));
async function made(url: string): Promise<void> {
	const store = await openPostgres(url, { writer: "w", monotonic: systemClock.monotonic });
	await store.close();
}
async function admin(url: string, sql: string): Promise<void> {
	const client = new pg.Client({ connectionString: url });
	await client.connect();
	await client.query(sql).finally(() => client.end());
}

test("a good one, before and after it is a store", async () => {
	const url = await good.makeDatabase();
	expect(await checks(url)).toMatchObject({
		database: { ok: true, detail: expect.stringMatching(/^PostgreSQL 1\d\.\d+, postgres:/) },
		transport: { ok: true, detail: "not encrypted, on this machine" },
		durability: { ok: true, detail: "fsync on, full_page_writes on, synchronous_commit on" },
		clock: { ok: true, detail: expect.stringMatching(/^\d+ ms (behind|ahead of) this machine's$/) },
		schema: { ok: true, detail: "sluice is not there yet; the first daemon makes it" },
		leader: { ok: true, detail: "this host reaches the server itself" },
	});
	await made(url);
	const after = await checks(url);
	expect(after.schema).toEqual({ ok: true, detail: `sluice, version ${SCHEMA_VERSION}` });
	expect(after.leader).toEqual({ ok: true, detail: "this host reaches the server itself; the last leader is w" });
});

test("requests that were set aside are named", async () => {
	const url = await good.makeDatabase();
	await made(url);
	await admin(url, `INSERT INTO sluice.request (member, n, at, messages, name, args, tries) VALUES ('m', 1, 0, 1, 'apply', '{}', 100)`);
	expect((await checks(url)).leader).toMatchObject({ ok: false, detail: expect.stringMatching(/^set aside, .*: apply$/) });
});

test("one that forgets, and a clock that is wrong", async () => {
	const found = await checks(bad.url(), () => now() + 60_000);
	expect(found.durability).toMatchObject({ ok: false, detail: expect.stringMatching(/^fsync, full_page_writes, synchronous_commit off/) });
	expect(found.clock).toMatchObject({
		ok: false,
		detail: expect.stringMatching(/^(59|60)\d{3} ms behind/),
		hint: expect.stringContaining("ntp"),
	});
});

test("a role that may too little: what is missing is named", async () => {
	const url = await bad.makeDatabase("poor");
	await admin(url, "CREATE ROLE poor LOGIN");
	await admin(url, "REVOKE CREATE ON DATABASE poor FROM PUBLIC");
	const poor = url.replace("sluice@", "poor@");
	expect((await checks(poor)).schema).toMatchObject({ ok: false, detail: expect.stringContaining("may not make it") });
	await made(url);
	await admin(
		url,
		"GRANT USAGE ON SCHEMA sluice TO poor; GRANT SELECT ON ALL TABLES IN SCHEMA sluice TO poor; GRANT INSERT, UPDATE ON sluice.request TO poor",
	);
	const { schema } = await checks(poor);
	expect(schema).toMatchObject({ ok: false, hint: expect.stringContaining("docs/fleet.md") });
	expect(schema?.detail).toBe("this role may not delete reply, update heartbeat");
	await admin(url, "GRANT DELETE ON sluice.reply TO poor; GRANT UPDATE ON sluice.heartbeat TO poor");
	expect((await checks(poor)).schema).toEqual({
		ok: true,
		detail: `sluice, version ${SCHEMA_VERSION}; this role may be a host, and not lead`,
	});
});

test("the grants of docs/fleet.md: both roles can do what they are for, and the check-up agrees", { timeout: 60_000 }, async () => {
	const url = await bad.makeDatabase("granted");
	await made(url);
	const page = readFileSync(new URL("../../../docs/fleet.md", import.meta.url), "utf8");
	await admin(url, "CREATE ROLE sluice_leader LOGIN; CREATE ROLE sluice_host LOGIN");
	for (const line of page.match(/^GRANT .* ON (?:SCHEMA|ALL TABLES|sluice\.).*;$/gm) ?? []) await admin(url, line);
	const as = (role: string) => url.replace("sluice@", `${role}@`);
	const leader = await openScheduler({ url: as("sluice_leader"), join: { name: "a", home: "a" } });
	onTestFinished(() => leader.close());
	expect(await leader.leads()).toBe(true);
	expect((await checks(as("sluice_leader"))).schema).toEqual({ ok: true, detail: `sluice, version ${SCHEMA_VERSION}` });
	const host = await openScheduler({ url: as("sluice_host"), lead: "never", join: { name: "b", home: "b" } });
	onTestFinished(() => host.close());
	expect((await checks(as("sluice_host"))).schema).toMatchObject({ ok: true });
	await expect(admin(as("sluice_host"), "DELETE FROM sluice.job")).rejects.toThrow("permission denied for table job");
	await host.add({ payload: {} });
	const [claimed] = await host.claim({ worker: "w", host: "b", max: 1 });
	await host.complete({ job: 1, token: claimed?.run.token ?? 0, exit_kind: "completed" });
	expect(await host.heartbeat()).toMatchObject({ state: "live" });
	await host.claimStanding({ worker: "w", host: "b", max: 1 });
	expect(await host.retire("w")).toEqual([]);
	expect(await host.show(1)).toMatchObject({ status: "succeeded" });
});

test.each([
	["postgres://sluice@127.0.0.1:1/x", /ECONNREFUSED/],
	["postgres://sluice@127.0.0.1:PORT/nowhere", /no such database/],
	["postgres://h/d?schema=a-b", /no plain name/],
	["postgres://", /./],
])("%s cannot be reached: one finding that says so", async (url, detail) => {
	const found = await checkDatabase(url.replace("PORT", String(bad.port)), now);
	expect(found).toEqual([{ name: "database", ok: false, detail: expect.stringMatching(detail), hint: expect.stringMatching(/./) }]);
});
