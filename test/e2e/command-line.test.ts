// Bad input at the real command line: one clear message, the right exit code, nothing half done. (src/cli/command-line/parse.test.ts asks every command for each kind.)

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { COMMANDS } from "../../src/cli/catalogue.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";

/** A message and perhaps a hint, and never a stack. */
const ONE_MESSAGE = /^sluice: [^\n]+\n(?: {8}[^\n]+\n)?$/;

test("a wrong line: exit code 2, no home, no daemon", { timeout: 180_000 }, async () => {
	const home = new TestHome();
	const lines = [
		"lst",
		"lane",
		"add",
		"add --",
		"add make test",
		"add --at 1:00 --in 5m -- x",
		"add --timeout soon -- x",
		"show",
		"list --status quued",
		"logs 1 --run first",
		"wait 1 2 --exit-code",
		"priority 1 high",
		"pause --lane a --repo b",
		"pause --for soon",
		"clear",
		"up --detach --install",
		"up --port 99999",
		"init --preset loop",
		"config set max_concurrent",
		"budget grant owner:ann tokens many",
		"gc --days -1",
	];
	for (const line of lines) {
		const words = line.split(" ");
		expect([line, await home.run(words)]).toEqual([line, { code: 2, out: "", err: expect.stringMatching(ONE_MESSAGE) }]);
		expect([line, existsSync(home.path)]).toEqual([line, false]);
	}
	expect(await home.run(["apply", "no-such-file.yml"])).toMatchObject({ code: 3, out: "", err: expect.stringMatching(ONE_MESSAGE) });
	expect(await home.run([])).toMatchObject({ code: 2, out: "" });
	const { code, out, err } = await home.run(["list", "--stats", "--json"]);
	expect([code, out, JSON.parse(err)]).toEqual([
		2,
		"",
		{ schema_version: 1, error: { code: "usage", message: "list: there is no option --stats", hint: "did you mean --status?" } },
	]);
	expect(existsSync(home.path)).toBe(false);
});

describe("with a daemon", () => {
	test("what list and show print is chosen by settings, and by --fields before them", { timeout: 60_000 }, async () => {
		const home = new TestHome();
		const { client } = await home.up();
		await client.call("job.add", { command: ["true"], name: "build", priority: 7, runnable_at: "2999-01-01T00:00:00Z" });
		expect(await home.run(["config", "set", "display.list", "[id, priority]"])).toMatchObject({ code: 0 });
		expect(await home.run(["config", "set", "display.show", "[name]"])).toMatchObject({ code: 0 });
		const words = async (...line: string[]) => (await home.run(line)).out.trim().split(/\s+/);
		expect(await words("list")).toEqual(["ID", "PRIO", "1", "7"]);
		expect(await words("list", "--fields", "name")).toEqual(["NAME", "build"]);
		expect(await words("show", "1")).toEqual(["name", "build"]);
		expect(JSON.parse((await home.run(["list", "--json"])).out).jobs[0]).toMatchObject({ id: 1, lane: "default" });
		const refused = await home.run(["config", "set", "display.list", "[id, wait]"]);
		expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('display.list[1]: there is no field "wait"') });
		expect(refused.err).toContain('did you mean "wait_reason"? known: id, name, status');
		expect(await words("list")).toEqual(["ID", "PRIO", "1", "7"]);
		writeFileSync(join(home.path, "config.yml"), "display: {list: [id, colour]}\n");
		expect(await home.run(["config", "check"])).toMatchObject({ code: 2, out: expect.stringContaining('there is no field "colour"') });
	});

	test("an id or a name that is not there: exit code 3, near ones are suggested, and nothing is done", { timeout: 180_000 }, async () => {
		const home = new TestHome();
		const { client } = await home.up();
		const later = new Date(Date.now() + 3_600_000).toISOString();
		for (const name of ["build", "deploy"]) await client.call("job.add", { command: ["true"], name, runnable_at: later });
		const before = (await client.call("job.list", { all: true })).jobs;
		const more: Record<string, string[]> = {
			priority: ["5"],
			answer: ["yes"],
			tell: ["yes"],
			edit: ["--priority", "5"],
			signal: ["HUP"],
		};
		// The ids that sling takes are those of items, those of the kernel are its entries'. attach asks for a terminal first.
		const takers = COMMANDS.filter(
			({ args = [], hidden, name }) =>
				!hidden && args[0]?.name === "ID" && !["sling", "attach"].includes(name) && !name.startsWith("kernel "),
		).map(({ name }) => name);
		expect(takers.length).toBeGreaterThan(12);
		for (const name of takers) {
			const known = await home.run([name, "biuld", ...(more[name] ?? [])]);
			expect([name, known.code, known.out]).toEqual([name, 3, ""]);
			expect([name, known.err]).toEqual([name, expect.stringMatching(ONE_MESSAGE)]);
			expect([name, known.err]).toEqual([name, expect.stringContaining('did you mean "build"?')]);
		}
		expect(await home.run(["show", "3"])).toMatchObject({ code: 3, err: expect.stringContaining("near it: 1, 2") });
		expect(await home.run(["cancel", "build", "deplyo"])).toMatchObject({
			code: 3,
			err: expect.stringContaining('did you mean "deploy"?'),
		});
		expect(await home.run(["add", "--after", "biuld", "--", "true"])).toMatchObject({ code: 3, err: expect.stringContaining('"build"') });
		expect((await client.call("job.list", { all: true })).jobs).toEqual(before);
	});

	test("values that only the daemon can judge are refused with the same care", { timeout: 180_000 }, async () => {
		const home = new TestHome();
		const { client } = await home.up();
		const manifest = join(home.path, "jobs.yml");
		writeFileSync(manifest, "jobs:\n  a: {command: [x]}\n  b: {command: [y], after: [c]}\n  c: {command: [z], after: [b]}\n");
		const lines: [string[], number][] = [
			[["add", "--lane", "defualt", "--", "true"], 3],
			[["add", "--after", "1:sometimes", "--", "true"], 2],
			[["add", "--needs", "nonsense", "--", "true"], 2],
			[["add", "--deadline", "2001-01-01T00:00:00Z", "--", "true"], 2],
			[["add", "--agent", "nobody", "do it"], 3],
			[["config", "get", "max_concurent"], 3],
			[["config", "set", "max_concurent", "5"], 2],
			[["config", "set", "max_concurrent", "many"], 2],
			[["config", "unset", "max_concurent"], 2],
			[["account", "clear", "elsewhere"], 3],
			[["budget", "grant", "nonsense", "tokens", "5"], 2],
			[["artifact", "mark", "nonsense"], 2],
			[["apply", manifest], 2],
			[["apply", "--check", manifest], 2],
		];
		for (const [line, code] of lines) {
			const said = await home.run(line);
			expect([line, said.code]).toEqual([line, code]);
			if (code !== 0) expect([line, said.out, said.err]).toEqual([line, "", expect.stringMatching(ONE_MESSAGE)]);
		}
		expect((await client.call("job.list", { all: true })).jobs.map(({ agent }) => agent)).toEqual([]);
		expect(existsSync(join(home.path, "config.yml"))).toBe(false);
	});

	test("what is not possible now: exit code 4", async () => {
		const home = new TestHome();
		const { client } = await home.up();
		expect((await home.run(["add", "-q", "--wait", "--", "true"])).code).toBe(0);
		for (const line of [
			["approve", "1"],
			["cancel", "1"],
			["answer", "1", "yes"],
			["promote", "1"],
			["priority", "1", "5"],
		])
			expect([line, await home.run(line)]).toEqual([line, { code: 4, out: "", err: expect.stringMatching(ONE_MESSAGE) }]);
		expect((await client.call("job.show", { id: 1 })).job).toMatchObject({ status: "succeeded", priority: 0 });
	});

	test("of another version that does not understand the command: exit code 4, nothing is done, and down still works", async () => {
		const home = new TestHome();
		const { client, child } = await home.up();
		const text = readFileSync(TestHome.command(), "utf8");
		const other = TestHome.command().replace(/\.mjs$/, "-other.mjs");
		onTestFinished(() => rmSync(other, { force: true }));
		expect(text).toMatch(/SPEAKS = 1;/);
		writeFileSync(other, text.replace(/SPEAKS = 1;/, "SPEAKS = 2;"));
		const said = await home.run(["add", "--", "true"], { program: other });
		expect(said).toMatchObject({ code: 4, out: "", err: expect.stringMatching(ONE_MESSAGE) });
		expect(said.err).toContain("they do not understand each other");
		expect((await client.call("job.list", { all: true })).jobs).toEqual([]);
		expect(await home.run(["version"], { program: other })).toMatchObject({ code: 0 });
		expect(await home.run(["down"], { program: other })).toMatchObject({ code: 0 });
		await home.gone(child);
	});
});

describe("a configuration that cannot be read", () => {
	test.each([
		["a folder", (path: string) => mkdirSync(path)],
		["no YAML", (path: string) => writeFileSync(path, "max_concurrent: [1\n")],
		["no text", (path: string) => writeFileSync(path, Buffer.from([0xff, 0xfe, 0x00, 0x01]))],
		["a typo", (path: string) => writeFileSync(path, "max_concurent: 5\n")],
	])("%s: one clear message and exit code 2, from whatever needs it", async (_what, make) => {
		const home = new TestHome();
		home.make();
		const path = join(home.path, "config.yml");
		make(path);
		const daemon = home.spawn();
		await home.gone(daemon);
		expect([daemon.exitCode, daemon.said()]).toEqual([2, expect.stringMatching(/^sluice: [^\n]*config\.yml[^\n]*\n(?: {8}[^\n]+\n)?$/)]);
		expect(existsSync(join(home.path, "daemon.json"))).toBe(false);
	});

	test("while the daemon runs: the last good one counts, status and check say so, and set does not write over it", async () => {
		const home = new TestHome();
		home.make("max_concurrent: 3\n");
		const { client } = await home.up();
		const path = join(home.path, "config.yml");
		writeFileSync(path, "max_concurrent: 5\nlanse: {}\n");
		await until(async () => (await client.call("scheduler.status", {})).config_problem !== null);
		expect((await client.call("scheduler.status", {})).max_concurrent).toBe(3);
		expect(await home.run(["status"])).toMatchObject({ code: 0, out: expect.stringContaining("lanse") });
		expect(await home.run(["config", "check"])).toMatchObject({ code: 2, out: expect.stringContaining('did you mean "lanes"?') });
		expect(await home.run(["config", "set", "max_concurrent", "7"])).toMatchObject({ code: 2, err: expect.stringMatching(ONE_MESSAGE) });
		expect(readFileSync(path, "utf8")).toBe("max_concurrent: 5\nlanse: {}\n");
		expect(await home.run(["add", "--wait", "-q", "--", "true"])).toMatchObject({ code: 0 });
	});
});
