// The small parts by themselves: where the socket is, name patterns of secrets, the lock-out, Prometheus' text.

import { chmodSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { FakeClock, MINUTE, SECOND } from "../../test/make/fakes.ts";
import { makeFolder } from "../../test/make/folder.ts";
import { connect } from "./client.ts";
import { Histogram, writeMetrics } from "./metrics-text.ts";
import { MASKED, masked, maskedDeep, matcher, SECRET_NAMES } from "./secrets.ts";
import { socketPath } from "./socket-path.ts";
import { bearer, Lockout } from "./tokens.ts";

describe("the socket's path", () => {
	const where = { tmp: "/tmp", uid: 1000 };

	test("is in the home, unless that is too long for a socket", () => {
		expect(socketPath("/home/ann/.sluice", where)).toBe("/home/ann/.sluice/sluice.sock");
		const edge = `/${"x".repeat(104 - "/sluice.sock".length - 1)}`;
		expect(socketPath(edge, where)).toBe(`${edge}/sluice.sock`);
		expect(socketPath(`${edge}x`, where)).toMatch(/^\/tmp\/sluice-1000\/[0-9a-f]{16}\.sock$/);
	});

	test("is another one for another home, and the same for the same", () => {
		const homes = Array.from({ length: 1000 }, (_, index) => `/${"long/".repeat(30)}${index}`);
		expect(new Set(homes.map((home) => socketPath(home, where))).size).toBe(1000);
		expect(socketPath(homes[7]!, where)).toBe(socketPath(homes[7]!, where));
		// Bytes count, not letters.
		expect(socketPath(`/${"ö".repeat(50)}`, where)).toContain("/tmp/");
	});
});

test("name patterns", () => {
	const table: [string, string[], string[]][] = [
		["*_KEY", ["API_KEY", "a_key", "_KEY"], ["KEY", "API_KEYS"]],
		["*SECRET*", ["SECRET", "MY_SECRET_1", "secrets"], ["SECRE"]],
		["PATH", ["path"], ["MY_PATH", "PATHS"]],
		["A*B*C", ["ABC", "AxBxC", "AABBCC"], ["ACB", "AB", "ABCD"]],
		["*", ["", "anything"], []],
		["AB*BA", ["ABBA", "ABxBA"], ["ABA"]],
	];
	for (const [pattern, yes, no] of table) {
		expect([pattern, yes.filter((name) => !matcher(pattern)(name))]).toEqual([pattern, []]);
		expect([pattern, no.filter((name) => matcher(pattern)(name))]).toEqual([pattern, []]);
	}
});

test("which variables hold secrets when nothing else is set", () => {
	const names = [
		"API_KEY",
		"GH_PAT",
		"SSH_PASSPHRASE",
		"PASSPHRASE",
		"AUTH",
		"NPM_AUTH",
		"DATABASE_PWD",
		"DB_PASS",
		"MY_SECRET",
		"X_TOKEN",
	];
	const plain = ["PATH", "PWD", "SSH_AUTH_SOCK", "AUTHOR", "KEYBOARD", "PATTERN"];
	const all = Object.fromEntries([...names, ...plain].map((name) => [name, "value"]));
	const shown = masked(all, { names: SECRET_NAMES });
	expect(Object.keys(shown).filter((name) => shown[name] === MASKED)).toEqual(names);
});

test("secrets at any depth of a document: by the names of variables, by what they look like, never a reference or a setting's own name", () => {
	const document = {
		add: { env: { API_KEY: "x", HOME: "/h", OTHER_KEY: "env:OTHER_KEY", A_TOKEN: "" }, vars: { DB_PASS: "y" } },
		secrets: ["*_KEY"],
		url: "ssh://u:SECRET@h/x",
		note: ["ghp_abcdefgh"],
	};
	expect(maskedDeep(document, { names: SECRET_NAMES })).toEqual({
		add: { env: { API_KEY: MASKED, HOME: "/h", OTHER_KEY: "env:OTHER_KEY", A_TOKEN: "" }, vars: { DB_PASS: MASKED } },
		secrets: ["*_KEY"],
		url: "ssh://***@h/x",
		note: [MASKED],
	});
	expect(maskedDeep("sk", { names: SECRET_NAMES }, "cron.c1.add.env.API_KEY")).toBe(MASKED);
});

describe("tokens", () => {
	const runs = { roleOfToken: (token: string) => (token === "r" ? { job: 7, run: "7.2", token: 5 } : null) };

	test("make an operator, a viewer, a run, or nobody", () => {
		const tokens = { operator: "o", viewer: "v" };
		expect(bearer("o", tokens, runs, "http")).toEqual({ role: "operator", by: "token", door: "http" });
		expect(bearer("v", tokens, runs, "http")).toEqual({ role: "viewer", by: "viewer", door: "http" });
		expect(bearer("r", tokens, runs, "http")).toEqual({ role: "run", by: "run:7.2", door: "http", job: 7, token: 5 });
		for (const wrong of ["", "O", "oo", "x".repeat(100_000)]) expect(bearer(wrong, tokens, runs, "http")).toBeUndefined();
		expect(bearer("", { operator: "", viewer: "" }, runs, "http")).toBeUndefined();
	});

	test("too many wrong ones in a minute lock an address out for a while, and only that one", () => {
		const clock = new FakeClock();
		const lockout = new Lockout(clock);
		for (let count = 0; count < 9; count++) lockout.failed("a");
		expect(lockout.left("a")).toBe(0);
		clock.pass(2 * MINUTE);
		for (let count = 0; count < 9; count++) lockout.failed("a");
		expect(lockout.left("a")).toBe(0);
		lockout.failed("a");
		expect(lockout.left("a")).toBe(30 * SECOND);
		expect(lockout.left("b")).toBe(0);
		clock.pass(30 * SECOND);
		expect(lockout.left("a")).toBe(0);
		for (let address = 0; address < 5000; address++) lockout.failed(String(address));
	});
});

test("Prometheus' text: escapes, buckets that add up", () => {
	const histogram = new Histogram([1, 5]);
	for (const value of [0.5, 1, 3, 99]) histogram.observe(value);
	expect(
		writeMetrics([
			{ name: "a", help: "A.", type: "gauge", samples: [{ labels: { x: 'q"\\\n' }, value: 1 }, { value: -2.5 }] },
			{ name: "h", help: "H.", type: "histogram", histogram },
		]),
	).toBe(
		[
			"# HELP a A.",
			"# TYPE a gauge",
			'a{x="q\\"\\\\\\n"} 1',
			"a -2.5",
			"# HELP h H.",
			"# TYPE h histogram",
			'h_bucket{le="1"} 2',
			'h_bucket{le="5"} 3',
			'h_bucket{le="+Inf"} 4',
			"h_sum 103.5",
			"h_count 4",
			"",
		].join("\n"),
	);
});

test("a socket that belongs to another user is refused in plain words", async () => {
	const path = join(makeFolder(), "s");
	const server = createServer();
	await new Promise<void>((resolve) => server.listen(path, resolve));
	onTestFinished(() => void server.close());
	chmodSync(path, 0);
	const isRoot = process.getuid?.() === 0;
	// Root may use every socket: it looks as another user for a moment.
	if (isRoot) process.seteuid?.(65_534);
	try {
		await expect(connect(path)).rejects.toMatchObject({ code: "forbidden", message: expect.stringContaining("belongs to another user") });
		await expect(connect(path, "run")).rejects.toMatchObject({
			code: "forbidden",
			message: expect.stringMatching(/^the sandbox of this run keeps programs from the daemon: call the tool run_fail/),
		});
	} finally {
		if (isRoot) process.seteuid?.(0);
	}
});
