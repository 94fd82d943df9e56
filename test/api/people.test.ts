// People over HTTP and HTTPS: links that sign in once, roles and removals that count at once, a proxy that names people, and the record of calls.

import { describe, expect, test } from "vitest";
import { connect } from "../../src/api/client.ts";
import type { ProxyRule } from "../../src/api/server/proxy.ts";
import { until } from "../make/daemons/daemon.ts";
import { TOKENS } from "../make/daemons/served.ts";
import { ask, bearerOf, invite, open, openShared, rpc, signIn, tokenOf } from "../make/daemons/shared.ts";

describe("a sign-in link", () => {
	test("signs in once, over TLS too; the second use is told that it was used, and gets nothing", async () => {
		const { url, tls, cert, desk } = await openShared();
		const code = await invite(url, "anna", "operator");
		const first = await signIn(tls, code, cert);
		expect(first).toMatchObject({ status: 200, name: "anna", role: "operator" });
		expect((await rpc(tls, first.token ?? "", "scheduler.version", {}, cert)).result).toMatchObject({
			by: "anna",
			role: "operator",
			person: "anna",
		});
		const second = await signIn(url, code);
		expect([second.status, second.token, second.error?.message]).toEqual([401, undefined, expect.stringContaining("used already")]);
		expect(desk.pretended.audit.map(({ by, method, outcome }) => [by, method, outcome])).toEqual([
			["token", "people.add", "ok"],
			["anna", "sign-in", "ok"],
			["unknown", "sign-in", "link_used"],
		]);
	});

	test("used by twenty callers at the same moment, signs in one of them", async () => {
		const { url, tls, cert } = await openShared();
		const code = await invite(url, "anna", "admin");
		const all = await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? signIn(url, code) : signIn(tls, code, cert))));
		expect(all.filter(({ status }) => status === 200)).toHaveLength(1);
		expect(all.filter(({ token }) => token !== undefined)).toHaveLength(1);
	});

	test("older than three days is refused with what to do; one that nobody made is not told apart from a used page code", async () => {
		const { url, desk } = await openShared();
		const code = await invite(url, "anna", "viewer");
		desk.t.clock.pass(3 * 86_400_000);
		expect((await signIn(url, code)).error?.message).toBe(
			"this link is older than three days: an admin makes a new one with sluice people link NAME",
		);
		expect((await signIn(url, "A".repeat(22))).error?.message).toContain("is not known");
	});

	test("the store holds digests alone: neither the link nor the token", async () => {
		const { url, desk } = await openShared();
		const code = await invite(url, "anna", "viewer");
		const { token = "" } = await signIn(url, code);
		const kept = JSON.stringify(await desk.t.sluice.people.read());
		expect([kept.includes(code), kept.includes(token), kept.includes(token.slice(7))]).toEqual([false, false, false]);
		expect(JSON.stringify(desk.pretended.audit)).not.toContain(code);
	});
});

describe("a change of a person counts at once", () => {
	test("on the next call of an open connection, of the socket too", async () => {
		const { url, socket } = await openShared();
		const token = await tokenOf(url, "otto", "operator");
		const line = await connect(socket);
		await line.call("session.auth", { token });
		await line.call("job.add", { command: ["true"] });
		await rpc(url, TOKENS.admin, "people.role", { name: "otto", role: "viewer" });
		await expect(line.call("job.add", { command: ["true"] })).rejects.toThrow("job.add is not for the role viewer, which otto has");
		expect((await rpc(url, token, "job.add", { command: ["true"] })).error?.data?.hint).toContain("sluice people role otto");
		expect((await line.call("scheduler.version", {})).role).toBe("viewer");
		await rpc(url, TOKENS.admin, "people.remove", { name: "otto" });
		await expect(line.call("scheduler.version", {})).rejects.toThrow("you are signed out");
		expect(await rpc(url, token, "scheduler.version")).toMatchObject({ status: 401, error: { code: "signed_out" } });
		line.close();
	});

	test("on event streams: they end", async () => {
		const { url } = await openShared();
		const tokens = { otto: await tokenOf(url, "otto", "operator"), vera: await tokenOf(url, "vera", "viewer") };
		const streams = Object.fromEntries(
			await Promise.all(
				Object.entries(tokens).map(
					async ([name, token]) => [name, await open(url, { path: "/events", headers: bearerOf(token) })] as const,
				),
			),
		);
		let over = "";
		for (const [name, stream] of Object.entries(streams))
			stream
				.on("error", () => {})
				.on("close", () => {
					over += name;
				})
				.resume();
		await rpc(url, TOKENS.admin, "people.role", { name: "otto", role: "viewer" });
		await until(() => over === "otto");
		expect((await open(url, { path: "/events", headers: bearerOf(tokens.otto) })).statusCode).toBe(200);
		await rpc(url, TOKENS.admin, "people.remove", { name: "vera" });
		await until(() => over === "ottovera");
		expect((await open(url, { path: "/events", headers: bearerOf(tokens.vera) })).statusCode).toBe(401);
	});

	test("for a call that waits: its answer is not handed out to a person who was removed meanwhile", async () => {
		const { url, desk, connect } = await openShared();
		const line = await connect();
		await line.call("session.auth", { token: await tokenOf(url, "vera", "viewer") });
		await desk.t.add({ name: "long" });
		const waiting = expect(line.call("job.wait", { ids: [1], timeout_ms: 1500 })).rejects.toThrow("you are signed out");
		// Calls of one connection are begun in their order.
		await line.call("scheduler.version", {});
		await rpc(url, TOKENS.admin, "people.remove", { name: "vera" });
		await waiting;
	});

	test("a session that is signed out is over, the person's others are not", async () => {
		const { url } = await openShared();
		const first = await tokenOf(url, "anna", "viewer");
		const { result } = await rpc(url, TOKENS.admin, "people.link", { name: "anna" });
		const second = (await signIn(url, String(result?.link).replace(/^.*#code=/, ""))).token ?? "";
		expect((await ask(url, { method: "POST", path: "/sign-out", headers: bearerOf(first) })).status).toBe(204);
		expect([(await rpc(url, first, "scheduler.version")).status, (await rpc(url, second, "scheduler.version")).status]).toEqual([401, 200]);
	});
});

describe("a proxy that names people", () => {
	const rule: ProxyRule = { from: ["127.0.0.1"], header: "x-forwarded-email", secret: "a secret of the proxy", unknown: null };
	const named = (name: string, more: Record<string, string> = {}) => ({
		"Content-Type": "application/json",
		"X-Forwarded-Email": name,
		"X-Sluice-Proxy-Secret": "a secret of the proxy",
		...more,
	});
	const VERSION = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "scheduler.version" });
	const call = (url: string, headers: Record<string, string>) => ask(url, { method: "POST", path: "/rpc", headers, body: VERSION });

	test("is believed with its address and its secret; the role is the person's, and counts at once", async () => {
		const { url, desk } = await openShared({ proxy: () => rule });
		await invite(url, "anna@example.org", "operator");
		const { status, body } = await call(url, named("Anna@Example.org", { "X-Forwarded-For": "6.6.6.6, 10.1.1.1" }));
		expect([status, JSON.parse(body).result]).toMatchObject([200, { by: "anna@example.org", role: "operator" }]);
		await ask(url, {
			method: "POST",
			path: "/rpc",
			headers: named("anna@example.org", { "X-Forwarded-For": "6.6.6.6, 10.1.1.1" }),
			body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "job.add", params: { command: ["true"], by: "root" } }),
		});
		expect(desk.pretended.audit.at(-1)).toMatchObject({ by: "anna@example.org", from: "10.1.1.1", method: "job.add", what: { job: 1 } });
		await rpc(url, TOKENS.admin, "people.remove", { name: "anna@example.org" });
		expect((await call(url, named("anna@example.org"))).status).toBe(403);
	});

	test("from any other peer, without the secret, with another one, for an unknown person, by another site's form: 403", async () => {
		const { url } = await openShared({ proxy: () => rule });
		await invite(url, "anna", "admin");
		const { "X-Sluice-Proxy-Secret": _, ...without } = named("anna");
		const refused = [
			without,
			named("anna", { "X-Sluice-Proxy-Secret": "wrong" }),
			named("bob"),
			named("a b"),
			named("anna", { "Content-Type": "text/plain" }),
		];
		for (const headers of refused) expect([headers, (await call(url, headers)).status]).toEqual([headers, 403]);
		expect((await call(url, named("anna", { Origin: "https://evil.example" }))).status).toBe(403);
		const { url: other } = await openShared({ proxy: () => ({ ...rule, from: ["10.0.0.2"] }) });
		await invite(other, "anna", "admin");
		const reply = await call(other, named("anna"));
		expect([reply.status, JSON.parse(reply.body).error.message]).toEqual([
			403,
			"the header x-forwarded-email is taken from the proxy alone, not from 127.0.0.1",
		]);
		expect((await call(other, { ...named("anna"), ...bearerOf(TOKENS.admin) })).status).toBe(403);
	});

	test("without one in the settings, the header means nothing: a token is needed", async () => {
		const { url } = await openShared();
		await invite(url, "anna", "admin");
		expect((await call(url, named("anna"))).status).toBe(401);
	});

	test("people whom the proxy knows and Sluice does not may be viewers", async () => {
		const { url } = await openShared({ proxy: () => ({ ...rule, unknown: "viewer" }) });
		expect(JSON.parse((await call(url, named("bob"))).body).result).toMatchObject({ by: "bob", role: "viewer" });
	});
});

describe("the record of calls", () => {
	test("has every call that changes something, refused ones of people too, and no reads; no text and no value in it", async () => {
		const { url, desk } = await openShared();
		const token = await tokenOf(url, "otto", "operator");
		await rpc(url, token, "job.add", { command: ["echo", "SECRET"], env: { API_KEY: "SECRET" }, name: "x" });
		await rpc(url, token, "job.list");
		await rpc(url, token, "scheduler.run", { dry_run: true });
		await rpc(url, token, "scheduler.run", {});
		await rpc(url, token, "job.cancel", { id: 1, reason: "SECRET" });
		await rpc(url, token, "job.cancel", { id: 99 });
		await rpc(url, token, "config.set", { key: "max_concurrent", value: 9 });
		await rpc(url, TOKENS.admin, "config.set", { key: "max_concurrent", value: 9 });
		expect(
			desk.pretended.audit.slice(2).map(({ by, role, from, method, what, outcome }) => [by, role, from, method, what, outcome]),
		).toEqual([
			["otto", "operator", "127.0.0.1", "job.add", { job: 1 }, "ok"],
			["otto", "operator", "127.0.0.1", "scheduler.run", {}, "ok"],
			["otto", "operator", "127.0.0.1", "job.cancel", { id: 1 }, "ok"],
			["otto", "operator", "127.0.0.1", "job.cancel", { id: 99 }, "not_found"],
			["otto", "operator", "127.0.0.1", "config.set", {}, "unauthorised"],
			["token", "admin", "127.0.0.1", "config.set", { key: "max_concurrent" }, "ok"],
		]);
		expect(JSON.stringify(desk.pretended.audit)).not.toContain("SECRET");
		expect((await rpc(url, TOKENS.admin, "audit.list", { caller: "otto", limit: 2 })).result).toMatchObject({
			entries: [{ method: "config.set" }, { method: "job.cancel", host: "local" }],
			missing_hosts: [],
		});
	});
});
