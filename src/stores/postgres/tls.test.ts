// Encryption and passwords: against a server with a certificate of the test's own, which only those trust who were told to.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { makeCertificates } from "../../../test/make/stores/certificate.ts";
import { type Server, startServer } from "../../../test/make/stores/postgres-server.ts";
import { checkDatabase } from "../../daemon/service/database-checks.ts";
import { systemClock } from "../../host/local.ts";
import { openScheduler } from "../../open.ts";
import { addressOf } from "../address.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-tls-"));
const made = makeCertificates(folder, "localhost");
const other = mkdtempSync(join(folder, "other-"));
let server: Server;
beforeAll(async () => {
	if (!made) return;
	makeCertificates(other, "localhost");
	server = await startServer({
		settings: { ssl: "on" },
		// Nobody comes in without.
		files: { "server.crt": made.cert, "server.key": made.key, "pg_hba.conf": "hostssl all all 127.0.0.1/32 trust\n" },
	});
});
afterAll(() => {
	server?.end();
	rmSync(folder, { recursive: true, force: true });
});

const url = (query: string, host = "localhost") => `postgres://sluice@${host}:${server.port}/postgres?${query}`;
const transport = async (at: string) => {
	const found = await checkDatabase(at, systemClock.now);
	return found.find(({ name }) => name === "database transport") ?? found[0];
};

test.skipIf(!made)("verify-full with the authority's certificate: a scheduler works through it, listener and all", async () => {
	for (const mode of ["verify-full", "require"]) {
		const at = url(`sslmode=${mode}&sslrootcert=${made?.ca}`);
		expect(await transport(at)).toMatchObject({ ok: true, detail: expect.stringMatching(/^encrypted, TLSv1/) });
	}
	const scheduler = await openScheduler({ url: url(`sslmode=verify-full&sslrootcert=${made?.ca}`), join: { name: "here" } });
	onTestFinished(() => scheduler.close());
	expect(await scheduler.add({ command: ["true"] })).toMatchObject({ outcome: "queued" });
});

test.skipIf(!made)("no-verify encrypts, and trusts any server", async () => {
	expect(await transport(url("sslmode=no-verify"))).toMatchObject({ ok: true, detail: expect.stringMatching(/^encrypted/) });
});

test.skipIf(!made).each([
	["an authority that nobody named", "sslmode=require", "localhost"],
	["another authority", "sslmode=verify-full&sslrootcert=OTHER/ca.crt", "localhost"],
	["another name than the certificate's", "sslmode=verify-full&sslrootcert=CA", "127.0.0.1"],
])("refused at once: %s", async (_, query, host) => {
	const at = url(query.replace("OTHER", other).replace("CA", String(made?.ca)), host);
	await expect(openScheduler({ url: at })).rejects.toMatchObject({
		code: "store",
		message: expect.stringContaining("cannot be encrypted as asked for"),
		hint: expect.stringContaining("sslrootcert"),
	});
});

test.skipIf(!made)("without encryption, or with a file that is not there or no certificate: one clear line", async () => {
	await expect(openScheduler({ url: url("sslmode=disable", "127.0.0.1") })).rejects.toMatchObject({
		code: "store",
		message: expect.stringContaining("refuses this user"),
	});
	await expect(openScheduler({ url: url("sslmode=verify-full&sslrootcert=/nowhere.crt") })).rejects.toMatchObject({
		code: "store",
		message: expect.stringContaining("/nowhere.crt"),
	});
	writeFileSync(join(folder, "nonsense.crt"), "nonsense");
	await expect(openScheduler({ url: url(`sslmode=verify-full&sslrootcert=${folder}/nonsense.crt`) })).rejects.toMatchObject({
		code: "store",
	});
});

test("a server without TLS is refused where it is asked for", async () => {
	const plain = await startServer();
	onTestFinished(() => plain.end());
	await expect(openScheduler({ url: `${plain.url()}?sslmode=verify-full` })).rejects.toMatchObject({
		code: "store",
		message: expect.stringContaining("does not support SSL"),
	});
});

test("a password: from the address or the environment; without one, or with a wrong one, that is said at once", async () => {
	const strict = await startServer({
		files: { "pg_hba.conf": "host all sluice 127.0.0.1/32 trust\nhost all mill 127.0.0.1/32 scram-sha-256\n" },
	});
	onTestFinished(() => strict.end());
	const admin = new pg.Client({ connectionString: strict.url() });
	await admin.connect();
	await admin.query("CREATE ROLE mill LOGIN PASSWORD 'pass'");
	await admin.end();
	const as = (who: string) => checkDatabase(strict.url().replace("sluice@", `${who}@`), systemClock.now);
	expect((await as("mill"))[0]).toMatchObject({ ok: false, detail: expect.stringContaining("wants a password") });
	expect((await as("mill:wrong"))[0]).toMatchObject({ ok: false, detail: expect.stringContaining("refuses this user") });
	expect((await as("mill:pass"))[0]).toMatchObject({ ok: true });
	onTestFinished(() => void delete process.env.PGPASSWORD);
	process.env.PGPASSWORD = "pass";
	expect((await as("mill"))[0]).toMatchObject({ ok: true });
});

test("words that are unknown are refused, and no password is shown", () => {
	expect(() => addressOf("postgres://h/d?sslmode=prefer")).toThrow(/sslmode=prefer/);
	expect(addressOf("postgres://u:secret@h/d?password=secret&sslmode=require").display).toBe("postgres://u:***@h/d?sslmode=verify-full");
});
