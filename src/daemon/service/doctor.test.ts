// The check-up finds what is wrong and says what to do; on a machine like this one nothing is.

import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import { CLAUDE } from "../../core/agents/adapters/claude.ts";
import { AGENT_NAMES } from "../../core/agents/profile.ts";
import { find } from "../../host/program-path.ts";
import { openScheduler } from "../../open.ts";
import { guardStore } from "../../stores/sqlite/mark.ts";
import { chaosStep } from "../chaos.ts";
import { checkConfig, doctor } from "../cli-module.ts";
import { checkUp } from "./doctor.ts";

const by = async (patient: Partial<Parameters<typeof checkUp>[0]>) => {
	const checks = await checkUp({ home: join(makeFolder(), "to/be"), config: () => null, env: process.env, ...patient });
	return Object.fromEntries(checks.map((check) => [check.name, check]));
};

test("everything that a run needs is checked", async () => {
	const checks = await by({});
	expect(Object.keys(checks)).toEqual([
		...["node", "sqlite", "platform", "home", "disk", "config", "socket", "clock", "launcher", "git"],
		...AGENT_NAMES.map((name) => `agent ${name}`),
	]);
	for (const name of ["node", "sqlite", "platform", "home", "launcher"]) expect(checks[name]).toMatchObject({ ok: true });
	expect(checks.sqlite?.detail).toMatch(/^SQLite 3\.\d+/);
});

test("a home that is open to others, a bad file, no git", async () => {
	const home = makeFolder();
	chmodSync(home, 0o755);
	const checks = await by({
		home,
		env: { PATH: home },
		config: () => ({ code: "invalid", message: "config.yml:1:1: no", field: null, hint: null }),
	});
	expect(checks.home).toMatchObject({ ok: false, hint: `chmod 700 ${home}` });
	expect(checks.config).toMatchObject({ ok: false, detail: "config.yml:1:1: no" });
	expect(checks.git).toMatchObject({ ok: false, detail: "not installed" });
	expect(checks.launcher?.ok).toBe(false);
});

test("a home below a folder that other users may change", async () => {
	const home = join(makeFolder(), "open/home");
	mkdirSync(home, { recursive: true, mode: 0o700 });
	chmodSync(home, 0o700);
	chmodSync(dirname(home), 0o777);
	const { home: found } = await by({ home });
	expect(found).toMatchObject({ ok: false, detail: expect.stringContaining(`${dirname(home)} can be changed by other users (mode 777)`) });
	expect(found?.hint).toMatch(/^chmod go-w /);
});

test.skipIf(process.getuid?.() !== 0)("a home of another user (needs root, to give it away)", async () => {
	const home = makeFolder();
	chownSync(home, 54_321, 54_321);
	expect((await by({ home })).home).toMatchObject({ ok: false, detail: `${home} belongs to another user (54321)` });
});

test("a home that cannot be made", async () => {
	const folder = makeFolder();
	writeFileSync(join(folder, "file"), "");
	const home = join(folder, "file/sub/home");
	const file = join(folder, "file");
	expect((await by({ home })).home).toEqual({
		name: "home",
		ok: false,
		detail: `${home} cannot be made: ${file} is not a folder`,
		hint: "set SLUICE_HOME to a folder of your own",
	});
	// Root may write everywhere.
	if (process.getuid?.() === 0) return;
	chmodSync(folder, 0o500);
	expect((await by({ home: join(folder, "sub/home") })).home).toMatchObject({
		ok: false,
		detail: expect.stringContaining("cannot be written"),
	});
});

test("a store without a usable mark", async () => {
	const home = makeFolder();
	const [store, mark] = [join(home, "sluice.db"), join(home, "sluice.db-mark")];
	// A home that is new has neither.
	expect((await by({ home, store })).store).toMatchObject({ ok: true });
	const scheduler = await openScheduler({ path: store });
	await scheduler.add({ command: ["true"] });
	const missing = { ok: false, detail: expect.stringContaining(`${mark} is not there`) };
	expect((await by({ home, store, isOpen: true })).store).toMatchObject(missing);
	await scheduler.close();
	expect((await by({ home, store })).store).toMatchObject(missing);
	writeFileSync(mark, "");
	expect((await by({ home, store })).store).toMatchObject({ ok: false, detail: expect.stringContaining(`${mark} cannot be used`) });
	rmSync(mark);
	symlinkSync("sluice.db", mark);
	expect((await by({ home, store })).store).toMatchObject({ ok: false, detail: expect.stringContaining(`${mark} is not a plain file`) });
	rmSync(mark);
	guardStore(store, { loss: "refuse", warn: () => {} }).mark?.close();
	expect((await by({ home, store })).store).toMatchObject({ ok: true, detail: store });
});

test("agents: found on PATH with their version; a broken one is named", async () => {
	const bin = makeFolder();
	const script = (name: string, text: string) => {
		writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
		chmodSync(join(bin, name), 0o755);
	};
	script("claude", "echo 2.1.0 of Claude; echo more");
	script("codex", "exit 3");
	writeFileSync(join(bin, "gemini"), "not a program");
	const agents = {
		claude: { command: ["claude", "-p", "{prompt}"] },
		codex: { command: [join(bin, "codex")] },
		mine: { command: ["./mine.sh"] },
		gone: { command: ["/nowhere/gone"] },
		gemini: { command: ["gemini"] },
	};
	const env = { PATH: `:/nowhere:${bin}` };
	const checks = await by({ env, settings: () => ({ agents, accounts: {}, env: [] }) });
	expect(checks["agent claude"]).toEqual({ name: "agent claude", ok: true, detail: `2.1.0 of Claude (${join(bin, "claude")})` });
	expect(checks["agent codex"]).toMatchObject({ ok: false });
	expect(checks["agent gemini"]).toMatchObject({
		ok: false,
		detail: "gemini is not in PATH",
		hint: "install it, or change agents.gemini.command",
	});
	expect(checks["agent gone"]).toMatchObject({ ok: false, detail: "/nowhere/gone is not there" });
	// A relative program depends on the job's folder.
	expect(checks["agent mine"]).toMatchObject({ ok: true, detail: "./mine.sh, in the folder of each job" });
	expect(checks["agent opencode"]).toMatchObject({ ok: true, optional: true, detail: "not installed" });
	expect((await by({ env }))["agent claude"]).toEqual({
		name: "agent claude",
		ok: true,
		optional: true,
		detail: `2.1.0 of Claude (${join(bin, "claude")}), tested with ${CLAUDE.known?.tested}, runs find no login`,
		hint: expect.stringMatching(/log in/),
	});
	expect(find("claude", { PATH: bin })).toBe(join(bin, "claude"));
});

test("an agent of a later version than the tested one is no fault, but is reported", async () => {
	const bin = makeFolder();
	writeFileSync(join(bin, "codex"), "#!/bin/sh\necho codex-cli 99.1.0\n", { mode: 0o755 });
	const checks = await by({ env: { PATH: `${bin}:/bin` } });
	expect(checks["agent codex"]).toMatchObject({
		ok: true,
		detail: expect.stringMatching(/^codex-cli 99\.1\.0 \(.*\), newer than 0\.\d+\.\d+, which Sluice was tested with, /),
	});
	// A program that only prints like a known one has no tested version, and is not asked for its version.
	writeFileSync(join(bin, "qwen"), "#!/bin/sh\necho 0.1.0\n", { mode: 0o755 });
	const agents = { qwen: { command: ["qwen"], output: "claude" as const } };
	const own = await by({ env: { PATH: `${bin}:/bin` }, settings: () => ({ agents, accounts: {}, env: [] }) });
	expect(own["agent qwen"]).toMatchObject({ ok: true, detail: join(bin, "qwen") });
});

test("an agent whose key leads nowhere: the key is named, also where the program is not installed", async () => {
	const agents = { codex: { env: { OPENAI_API_KEY: "file:/nowhere/openai" } } };
	const checks = await by({ env: { PATH: "/nowhere" }, settings: () => ({ agents, accounts: {}, env: [] }) });
	expect(checks["agent codex"]).toMatchObject({
		ok: false,
		detail: expect.stringContaining("/nowhere/openai cannot be read"),
		hint: "sluice config set agents.codex.env.OPENAI_API_KEY …",
	});
});

test("without a daemon, too", async () => {
	const home = makeFolder();
	expect(await checkConfig(home)).toEqual({ schema_version: 1, ok: true, problems: [] });
	writeFileSync(join(home, "config.yml"), "nope: 1\n");
	expect(await checkConfig(home)).toMatchObject({ ok: false, problems: [{ code: "unknown_key" }] });
	expect((await doctor(home)).checks.find((check) => check.name === "config")).toMatchObject({ ok: false });
	writeFileSync(join(home, "config.yml"), "");
	const store = async (url?: string) => (await doctor(home, url)).checks.find((check) => check.name === "store")?.detail;
	expect(await store()).toBe(join(home, "sluice.db"));
	expect(await store("postgres://ann:secret@127.0.0.1:9/none")).toBe("postgres://ann:***@127.0.0.1:9/none");
});

test("chaos: kills at the nth time of a step, and refuses an unknown step", () => {
	let killed = 0;
	const step = chaosStep("launched:2", () => {
		killed++;
		return true;
	});
	for (const name of ["launched", "claimed", "launched", "launched"] as const) step?.(name);
	expect(killed).toBe(1);
	expect(chaosStep(undefined)).toBe(undefined);
	expect(() => chaosStep("lunched")).toThrow(/is no step/);
	expect(() => chaosStep("launched:0")).toThrow(/is no step/);
});
