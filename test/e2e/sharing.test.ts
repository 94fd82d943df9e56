// A real daemon that is shared: over TLS, across restarts, with its record of calls.

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TestHome } from "../make/daemons/daemon.ts";
import { ask, rpc, signIn } from "../make/daemons/shared.ts";

test("people stay signed in across a restart, the certificate and the record of calls stay, and nothing secret is in a file", {
	timeout: 120_000,
}, async () => {
	const home = new TestHome();
	home.make();
	const first = await home.up();
	const { shared } = await first.client.call("scheduler.serve", { listen: "127.0.0.1:0" });
	expect(shared).toMatchObject({ own_certificate: true, problem: null });
	const ca = readFileSync(join(home.path, "tls.crt"), "utf8");
	const invited = await first.client.call("people.add", { name: "anna", role: "operator" });
	expect(invited.link.startsWith(`${shared?.url}#code=`)).toBe(true);
	const code = invited.link.replace(/^.*#code=/, "");
	const { token = "" } = await signIn(shared?.url ?? "", code, ca);
	expect((await rpc(shared?.url ?? "", token, "job.add", { command: ["true"] }, ca)).result).toMatchObject({ outcome: "queued" });
	await expect(first.client.call("scheduler.serve", { listen: "0.0.0.0:0", tls: "off" })).rejects.toThrow(
		"tokens would cross the network in clear",
	);
	expect((await ask(shared?.url ?? "", { path: "/health" }, ca)).status).toBe(200);
	await first.client.call("scheduler.down", {});
	await home.gone(first.child);

	const second = await home.up();
	const { shared: again } = await second.client.call("scheduler.version", {});
	expect(again?.fingerprint).toBe(shared?.fingerprint);
	expect((await rpc(again?.url ?? "", token, "scheduler.version", {}, ca)).result).toMatchObject({ person: "anna", role: "operator" });
	expect((await signIn(again?.url ?? "", code, ca)).status).toBe(401);
	const { entries } = await second.client.call("audit.list", {});
	expect(entries.map(({ by, method, outcome }) => `${by} ${method} ${outcome}`)).toContain("anna job.add ok");
	expect(entries.map(({ method }) => method)).toEqual([
		"sign-in",
		"scheduler.down",
		"scheduler.serve",
		"job.add",
		"sign-in",
		"people.add",
		"scheduler.serve",
	]);
	for (const name of ["audit.jsonl", "daemon.log", "config.yml", "sluice.db", "sluice.db-wal", "tls.key"]) {
		const text = readFileSync(join(home.path, name), "latin1");
		expect([name, text.includes(code), text.includes(token)]).toEqual([name, false, false]);
		expect([name, statSync(join(home.path, name)).mode & 0o077]).toEqual([name, 0]);
	}
});
