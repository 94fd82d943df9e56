// Small parts by themselves: the socket's path, name patterns of secrets, the limit on wrong tokens, Prometheus' text.

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { FakeClock, MINUTE, SECOND } from "../../test/make/fakes.ts";
import { makeFolder } from "../../test/make/folder.ts";
import { openFilesLimit } from "../host/open-files.ts";
import { connect } from "./client.ts";
import { MASKED, masked, maskedDeep, matcher, SECRET_NAMES } from "./secrets.ts";
import { Histogram, writeMetrics } from "./server/metrics-text.ts";
import { type Page, PageSignIns } from "./server/page-sign-ins.ts";
import { bearer } from "./server/tokens.ts";
import { WrongTokens } from "./server/wrong-tokens.ts";
import { fitsSocket, isSocketOf, recordedSocket, shortFolderPrefix, socketOf } from "./socket-path.ts";

describe("the socket's path", () => {
	test("is in the home, unless that is too long for a socket", () => {
		expect(socketOf("/no-such/.sluice")).toBe("/no-such/.sluice/sluice.sock");
		const edge = `/${"x".repeat(104 - "/sluice.sock".length - 1)}`;
		expect([fitsSocket(`${edge}/sluice.sock`), fitsSocket(`${edge}x/sluice.sock`)]).toEqual([true, false]);
		// Bytes count, not characters.
		expect(fitsSocket(`/${"ö".repeat(60)}`)).toBe(false);
	});

	test("the name of the short folder differs between homes", () => {
		const homes = Array.from({ length: 1000 }, (_, index) => `/${"long/".repeat(30)}${index}`);
		expect(new Set(homes.map(shortFolderPrefix)).size).toBe(1000);
		const socket = `/tmp/${shortFolderPrefix(homes[7]!)}aB3dE6/sock`;
		expect(homes.filter((home) => isSocketOf(socket, home))).toEqual([homes[7]]);
		expect(isSocketOf("/h/sluice.sock", "/h")).toBe(true);
	});

	test("the recorded socket is used only while home and folder are private to the owner", () => {
		const home = realpathSync(makeFolder());
		const short = mkdtempSync(join(realpathSync(tmpdir()), shortFolderPrefix(home)));
		onTestFinished(() => rmSync(short, { recursive: true, force: true }));
		const socket = join(short, "sock");
		writeFileSync(join(home, "socket"), `${socket}\n`);
		expect(recordedSocket(home)).toBe(socket);
		chmodSync(short, 0o750);
		expect(recordedSocket(home)).toBeUndefined();
		chmodSync(short, 0o700);
		chmodSync(home, 0o770);
		expect(recordedSocket(home)).toBeUndefined();
		chmodSync(home, 0o700);
		writeFileSync(join(home, "socket"), join(makeFolder(), "sock"));
		expect(recordedSocket(home)).toBeUndefined();
		// A record that is no plain file, or too long: the client does not wait for a writer, and does not fail.
		const replace = (make: (path: string) => void) => {
			rmSync(join(home, "socket"), { recursive: true });
			make(join(home, "socket"));
		};
		for (const make of [
			(path: string) => void execFileSync("mkfifo", [path]),
			(path: string) => void mkdirSync(path),
			(path: string) => writeFileSync(path, `${socket}${" ".repeat(5_000)}`),
		]) {
			replace(make);
			expect(recordedSocket(home)).toBeUndefined();
		}
		replace((path) => writeFileSync(path, socket));
		expect(recordedSocket(home)).toBe(socket);
		rmSync(short, { recursive: true });
		symlinkSync(makeFolder(), short);
		expect(recordedSocket(home)).toBeUndefined();
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

test("which variables are secret by default", () => {
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

test("secrets at any depth of a document: by names of variables, by form, never a reference or a setting's own name", () => {
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

	test("identify an admin, a viewer, a run, or no caller", () => {
		const tokens = { admin: "o", viewer: "v" };
		expect(bearer("o", tokens, runs, "http")).toEqual({ role: "admin", by: "token", channel: "http" });
		expect(bearer("v", tokens, runs, "http")).toEqual({ role: "viewer", by: "viewer", channel: "http" });
		expect(bearer("r", tokens, runs, "http")).toEqual({ role: "run", by: "run:7.2", channel: "http", job: 7, token: 5 });
		for (const wrong of ["", "O", "oo", "x".repeat(100_000)]) expect(bearer(wrong, tokens, runs, "http")).toBeUndefined();
		expect(bearer("", { admin: "", viewer: "" }, runs, "http")).toBeUndefined();
	});
});

describe("wrong tokens", () => {
	function stand() {
		const clock = new FakeClock();
		const lines: unknown[] = [];
		const timers: { ms: number; call: () => void }[] = [];
		const after = (ms: number, call: () => void) => {
			timers.push({ ms, call });
			return () => {};
		};
		const wrong = new WrongTokens({ clock, host: { after }, log: { warn: (message, fields) => lines.push({ message, ...fields }) } });
		return { clock, lines, timers, wrong };
	}

	test("ten a minute get 401, further ones get 429 with a delay; all loopback addresses count as one source", () => {
		const { clock, wrong } = stand();
		for (let count = 0; count < 10; count++) expect(wrong.count(`127.0.${count}.${count}`)).toBe(0);
		clock.pass(20 * SECOND);
		expect(["127.9.9.9", "::1", "::ffff:127.0.0.1"].map((address) => wrong.count(address))).toEqual([40, 40, 40].map((s) => s * SECOND));
		expect(wrong.count("192.0.2.7")).toBe(0);
		clock.pass(40 * SECOND);
		expect(wrong.count("127.0.0.1")).toBe(0);
		for (let address = 0; address < 5000; address++) wrong.count(`10.0.${address >> 8}.${address & 255}`);
	});

	test("the log gets one line a minute for all of them", () => {
		const { lines, timers, wrong } = stand();
		for (let count = 0; count < 2000; count++) wrong.count(`127.0.${count >> 8}.${count & 255}`);
		wrong.count("192.0.2.7");
		expect([lines, timers.map(({ ms }) => ms)]).toEqual([[], [MINUTE]]);
		timers[0]?.call();
		expect(lines).toMatchObject([{ count: 2001, from: "loopback,192.0.2.7" }]);
		wrong.count("127.0.0.1");
		wrong.close();
		expect(lines).toHaveLength(2);
		wrong.close();
		expect(lines).toHaveLength(2);
	});
});

describe("sign-ins of the page", () => {
	test("a code signs in once, within ten minutes, as the role it was made for", () => {
		const clock = new FakeClock();
		const pages = new PageSignIns(clock);
		const [first, second] = [pages.makeCode("operator"), pages.makeCode("viewer")];
		const signed = pages.signIn(first);
		expect([signed?.role, pages.signIn(first)]).toEqual(["operator", undefined]);
		expect(pages.find(signed?.token ?? "")).toMatchObject({ role: "operator" });
		expect([pages.find(first), pages.signIn(signed?.token ?? ""), pages.signIn("")]).toEqual([undefined, undefined, undefined]);
		clock.pass(10 * MINUTE);
		expect(pages.signIn(second)).toBeUndefined();
		const third = pages.makeCode("viewer");
		clock.pass(10 * MINUTE - 1);
		expect(pages.signIn(third)?.role).toBe("viewer");
	});

	test("a page token ends after 12 hours without use; an open stream is a use; another daemon says that there was a restart", () => {
		const clock = new FakeClock();
		const pages = new PageSignIns(clock);
		const token = pages.signIn(pages.makeCode("operator"))?.token ?? "";
		const idle = pages.signIn(pages.makeCode("operator"))?.token ?? "";
		clock.pass(12 * 60 * MINUTE);
		const page = pages.find(token) as Page;
		const release = pages.hold(page);
		clock.pass(13 * 60 * MINUTE);
		expect([pages.find(token), pages.find(idle), pages.whyDead(idle)]).toEqual([page, undefined, "signed_out"]);
		release();
		clock.pass(12 * 60 * MINUTE + 1);
		expect(pages.find(token)).toBeUndefined();
		const next = new PageSignIns(clock);
		expect([next.find(token), next.whyDead(token), next.whyDead("x"), next.whyDead("page.x")]).toEqual([
			undefined,
			"restarted",
			null,
			null,
		]);
	});

	test("codes and pages are bounded: the oldest code goes, and the page that was not used for longest", () => {
		const pages = new PageSignIns(new FakeClock());
		const codes = Array.from({ length: 101 }, () => pages.makeCode("operator"));
		expect([pages.signIn(codes[0] as string), pages.signIn(codes[1] as string)?.role]).toEqual([undefined, "operator"]);
		const tokens = Array.from({ length: 500 }, () => pages.signIn(pages.makeCode("viewer"))?.token ?? "");
		pages.find(tokens[0] as string);
		pages.signIn(pages.makeCode("viewer"));
		expect([pages.find(tokens[0] as string)?.role, pages.find(tokens[1] as string)]).toEqual(["viewer", undefined]);
	});
});

test("how many files the process may open: from the system, null if unknown", () => {
	expect(
		openFilesLimit(() => "Limit  Soft  Hard  Units\nMax open files            200                  200                  files\n"),
	).toBe(200);
	expect(openFilesLimit(() => "Max open files            unlimited            unlimited            files\n")).toBeNull();
	expect(
		openFilesLimit(() => {
			throw new Error("no such file");
		}),
	).toBeNull();
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

test("a socket of another user is refused with a clear message", async () => {
	const path = join(makeFolder(), "s");
	const server = createServer();
	await new Promise<void>((resolve) => server.listen(path, resolve));
	onTestFinished(() => void server.close());
	chmodSync(path, 0);
	const isRoot = process.getuid?.() === 0;
	// Root may use every socket, so the test becomes another user for a moment.
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
