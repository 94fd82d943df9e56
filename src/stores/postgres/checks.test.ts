// What the check-up says about a database: a good one, one that forgets, one with another clock, roles without rights.

import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Server, startServer } from "../../../test/make/stores/postgres-server.ts";
import { localHost, systemClock } from "../../host/local.ts";
import { SCHEMA_VERSION } from "../migrations/index.ts";
import { checkDatabase } from "./checks.ts";
import { openPostgres } from "./store.ts";

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
	const store = await openPostgres(url, { writer: "w", monotonic: systemClock.monotonic, after: localHost.after });
	await store.close();
}
async function admin(url: string, sql: string): Promise<void> {
	const client = new pg.Client({ connectionString: url });
	await client.connect();
	await client.query(sql);
	await client.end();
}

test("a good one, before and after it is a store", async () => {
	const url = await good.makeDatabase();
	expect(await checks(url)).toMatchObject({
		database: { ok: true, detail: expect.stringMatching(/^PostgreSQL 1\d\.\d+, postgres:/) },
		transport: { ok: true, detail: "not encrypted, on this machine" },
		durability: { ok: true, detail: "fsync on, full_page_writes on, synchronous_commit on" },
		clock: { ok: true, detail: expect.stringMatching(/^\d+ ms (behind|ahead of) this machine's$/) },
		schema: { ok: true, detail: "sluice is not there yet; the first daemon makes it" },
		notices: { ok: true },
	});
	await made(url);
	expect((await checks(url)).schema).toEqual({ ok: true, detail: `sluice, version ${SCHEMA_VERSION}` });
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
		"GRANT USAGE ON SCHEMA sluice TO poor; GRANT SELECT ON ALL TABLES IN SCHEMA sluice TO poor; GRANT INSERT, UPDATE, DELETE ON sluice.job TO poor",
	);
	const { schema } = await checks(poor);
	expect(schema).toMatchObject({ ok: false, hint: expect.stringContaining("docs/fleet.md") });
	expect(schema?.detail).toContain("insert done");
	expect(schema?.detail).not.toContain(" job");
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
