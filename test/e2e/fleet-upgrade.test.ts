// A fleet is upgraded host by host while it works: to a build that speaks later messages, which then leads.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { until } from "../make/daemons/daemon.ts";
import { HOST_DAEMON, hosts, type TestHost } from "../make/daemons/host.ts";
import { makeLaterProgram } from "../make/daemons/program.ts";
import { makeFolder } from "../make/folder.ts";
import { type Server, startServer } from "../make/stores/postgres-server.ts";

let server: Server;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server?.end());

type Host = TestHost & { client: Client };
const CONFIG = "max_concurrent: 6\nstop: {grace_int: 100ms, grace_term: 300ms}\n";

async function upgrade(host: Host, program: string): Promise<Host> {
	const daemon = host.daemons.at(-1);
	if (!daemon) throw new Error("the host has no daemon");
	daemon.kill("SIGTERM");
	await host.gone(daemon);
	host.program = program;
	return Object.assign(host, { client: (await host.up()).client });
}

test("three hosts under load: nothing is lost, nothing is done twice, and the later build leads in the end", async () => {
	const store = await server.makeDatabase();
	const all = await hosts({ a: CONFIG, b: CONFIG, c: CONFIG }, store);
	const proof = join(makeFolder(), "proof");
	const added: number[] = [];
	let loading = true;
	/** Adds jobs at a host that is up, as long as the upgrade lasts. */
	const load = (async () => {
		for (let n = 0; loading; n++) {
			const { client } = Object.values(all)[n % 3] as Host;
			const command = ["/bin/sh", "-c", `sleep 0.1; echo "$SLUICE_JOB_ID" >> ${proof}`];
			await pause(20);
			const result = await client.call("job.add", { command }).catch(() => undefined);
			if (result && "job" in result) added.push((result.job as { id: number }).id);
		}
	})();
	onTestFinished(() => {
		loading = false;
	});
	await until(() => added.length > 10);
	const later = makeLaterProgram(HOST_DAEMON);
	for (const host of Object.values(all)) {
		const before = added.length;
		await upgrade(host, later);
		await until(() => added.length > before + 5);
	}
	loading = false;
	await load;
	const { client } = all.a;
	await until(async () => (await client.call("job.list", { status: ["queued", "running"] })).jobs.length === 0);
	const ran = readFileSync(proof, "utf8").trim().split("\n").map(Number);
	expect(new Set(ran).size).toBe(ran.length);
	expect(added.filter((id) => !ran.includes(id))).toEqual([]);

	const admin = new pg.Client({ connectionString: store });
	await admin.connect();
	onTestFinished(() => admin.end());
	const { rows } = await admin.query("SELECT rank FROM sluice.head");
	expect(rows).toEqual([{ rank: 20 }]);
}, 120_000);
