// config.yml: mistakes with their place, origins, live changes, and a bad file that changes nothing.

import { readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import { until } from "../../../test/make/until.ts";
import { SILENT } from "../../contracts/log.ts";
import { DEFAULTS, PRESETS, readConfig } from "../../core/config.ts";
import { localHost } from "../../host/local.ts";
import { openScheduler } from "../../open.ts";
import { type ConfigFile, type ConfigSources, openConfigFile } from "./file.ts";
import { completeInput } from "./layers.ts";
import { SETTINGS } from "./settings.ts";

function open(text: string | null, more: Partial<ConfigSources> = {}): ConfigFile & { write(text: string): void; text(): string } {
	const path = join(makeFolder(), "config.yml");
	if (text !== null) writeFileSync(path, text);
	const file = openConfigFile({ path, host: localHost, log: SILENT, ...more });
	onTestFinished(() => file.close());
	return Object.assign(file, { write: (fresh: string) => writeFileSync(path, fresh), text: () => readFileSync(path, "utf8") });
}

const complaint = (text: string, more?: Partial<ConfigSources>): string => {
	try {
		open(text, more);
		return "none";
	} catch (error) {
		const { message, hint } = error as { message: string; hint?: string };
		return hint ? `${message} (${hint})` : message;
	}
};

describe("mistakes say where they are and what was meant", () => {
	test.each([
		["max_concurent: 3", 'config.yml:1:1: max_concurent: there is no such key (did you mean "max_concurrent"?)'],
		[
			"sources:\n  b:\n    kind: crads",
			'config.yml:3:5: sources.b.kind: must be one of cards, beads, folder, not "crads" (did you mean "cards"?)',
		],
		["sources: {b: {kind: cards}}", "config.yml:1:11: sources.b.root: is missing (the folder that the items are in)"],
		["sources: {b: {root: cards}}", 'config.yml:1:15: sources.b.root: "cards" is not a whole path (begin it with / or ~/)'],
		[
			"sources: {b: {kind: beads, root: /b, write_back: agent_status}}",
			"config.yml:1:38: sources.b.write_back: beads cannot write back agent_status (status is what can be written)",
		],
		["notify: [{kind: webhook, url: ftp://x}]", expect.stringMatching(/^config.yml:1:\d+: notify\[0\].url: "ftp:\/\/x" is not an address/)],
		["notify: [{kind: desktop, on: [job_faild]}]", expect.stringContaining('did you mean "job_failed"?')],
		["# hello\nprot: 1", 'config.yml:2:1: prot: there is no such key (did you mean "port"?)'],
		["lanes:\n  code:\n    maxx: 3", 'config.yml:3:5: lanes.code.maxx: there is no such key (did you mean "max"?)'],
		["lanes:\n  a.b:\n    max: -3", "config.yml:3:5: lanes.a.b.max: must be from 0 to 1000000, not -3"],
		["retry:\n  on: [failed, lots]", expect.stringMatching(/^config\.yml:2:16: retry\.on\[1\]: must be one of .*not "lots"/)],
		["max_concurrent: many", 'config.yml:1:1: max_concurrent: must be a whole number, not "many"'],
		["queue: {hard_limit: many}", 'config.yml:1:9: queue.hard_limit: must be a whole number or "auto", not "many"'],
		["dispatch_breaker: never", 'config.yml:1:1: dispatch_breaker: must be a whole number or "off" or "run", not "never"'],
		["stop:\n  grace: 3s", expect.stringMatching(/^config\.yml:2:3: stop\.grace: there is no such key/)],
		["max_log: plenty", expect.stringMatching(/^config\.yml:1:1: max_log: "plenty" is not a size/)],
		["agents: {claude: {command: []}}", expect.stringMatching(/^config\.yml:1:19: agents\.claude\.command: names no program/)],
		["env: ['A B']", expect.stringMatching(/^config\.yml:1:7: env\[0\]: "A B" is not the name of a variable/)],
		["preset: tovn", expect.stringMatching(/^config\.yml:1:1: preset: must be one of .*did you mean "town"/)],
		["a: 1\na: 2", 'config.yml:2:1: the key "a" stands here a second time (write each key once)'],
		["lanes: [1", expect.stringMatching(/^config\.yml:1:\d+: /)],
		["- 1\n- 2", expect.stringMatching(/^config\.yml:1:1: must be keys and values/)],
		["max_concurrent: 1\n---\nmax_concurrent: 2", expect.stringMatching(/^config\.yml:2:1: more than one document/)],
		["lanes:\n  default: null", "config.yml:1:1: lanes: at least one lane must be left"],
	])("%j", (text, said) => expect(complaint(text)).toEqual(said));

	test("in a variable and on the command line, too", () => {
		expect(complaint("", { env: { SLUICE_PORT: "high" } })).toBe('SLUICE_PORT: port: must be a whole number, not "high"');
		expect(complaint("", { flags: { "--port": { port: 70_000 } } })).toBe("--port: port: must be from 0 to 65535, not 70000");
	});

	test("a file that cannot be read is one clear message", () => {
		const path = makeFolder();
		expect(() => openConfigFile({ path, host: localHost, log: SILENT })).toThrow(/config\.yml cannot be read/);
	});

	test("nothing, a comment, an empty group: the defaults", () => {
		for (const text of [null, "", "# later\n", "lanes:\n", "---\n"]) {
			const file = open(text);
			expect([file.engine(), file.settings()]).toEqual([DEFAULTS, SETTINGS]);
		}
	});
});

describe("flag over environment over file over preset over default", () => {
	const origin = (file: ConfigFile, key: string) => file.get(key).map((one) => [one.value, one.origin])[0];

	test("with the origin of each", () => {
		const file = open(
			"# mine\npreset: town\nspawn_delay: 2s\nport: 1\nsafety_cap: 3\nretry: 2\nagents:\n  x: {command: [run, '{prompt}']}\n",
			{
				env: { SLUICE_PORT: "2", SLUICE_SAFETY_CAP: "4", SLUICE_HOME: "/x", SLUICE_TOKEN: "t", SLUICE_NONSENSE: "1" },
				flags: { "--port": { port: 3 } },
			},
		);
		expect(origin(file, "port")).toEqual([3, "--port"]);
		expect(origin(file, "safety_cap")).toEqual([4, "SLUICE_SAFETY_CAP"]);
		expect(origin(file, "spawn_delay_ms")).toEqual([2000, "config.yml:3:1"]);
		expect(origin(file, "spawn_delay")).toEqual([2000, "config.yml:3:1"]);
		expect(origin(file, "retry.max")).toEqual([2, "config.yml:6:1"]);
		expect(origin(file, "retry.factor")).toEqual([2, "default"]);
		expect(origin(file, "max_concurrent")).toEqual([-1, "preset town"]);
		expect(origin(file, "preset")).toEqual(["town", "config.yml:2:1"]);
		expect(origin(file, "timezone")).toEqual(["UTC", "default"]);
		expect(origin(file, "agents.x.command")).toEqual([["run", "{prompt}"], "config.yml:8:7"]);
		expect(file.engine()).toEqual({ ...PRESETS.town, spawn_delay_ms: 2000, safety_cap: 4, retry: { ...PRESETS.town.retry, max: 2 } });
	});

	test("a group, and a key that does not exist", () => {
		const file = open("");
		expect(file.get("stop").map((one) => one.key)).toEqual(["stop.grace_int_ms", "stop.grace_term_ms"]);
		expect(() => file.get("max_concurent")).toThrow(/no such setting/);
		expect(file.list().map((one) => one.key)).toEqual([...new Set(file.list().map((one) => one.key))]);
	});

	test("agents: a list allows, a map says how to start", () => {
		expect(open("agents: [a, b]").engine().agents).toEqual(["a", "b"]);
		const file = open("agents: {a: {command: [x]}}");
		expect([file.engine().agents, file.settings().agents]).toEqual([[], { a: { command: ["x"] } }]);
	});

	test("agents: what is said of one, and what is wrong with it", () => {
		const file = open(
			"agents:\n  a:\n    output: codex\n    resume: [x, '{session}']\n    permissions: { full: [--yolo] }\n    env: { N: 2 }\n",
		);
		expect(file.settings().agents).toEqual({
			a: { output: "codex", resume: ["x", "{session}"], permissions: { full: ["--yolo"] }, env: { N: "2" } },
		});
		expect(() => open("agents: {a: {resume: [x]}}")).toThrow(/agents\.a\.resume: names no session/);
		expect(() => open("agents: {a: {output: cobol}}")).toThrow(/agents\.a\.output/);
		expect(() => open("agents: {a: {permissions: {all: [x]}}}")).toThrow(/agents\.a\.permissions\.all/);
		expect(() => open("agents: {a: {stop_signal: SIGKILL}}")).toThrow(/agents\.a\.stop_signal/);
		expect(() => open("agents: {a: {comand: [x]}}")).toThrow(/agents\.a\.comand/);
	});

	test("accounts: the cap belongs to the engine, the folder to the daemon", () => {
		const file = open("accounts:\n  work: { max: 2, home: /homes/work/ }\n  other: {}\n");
		expect(file.engine().accounts.work).toMatchObject({ max: 2 });
		expect(file.settings().accounts).toMatchObject({ work: { home: "/homes/work" } });
		expect(file.get("accounts.work.home")).toMatchObject([{ value: "/homes/work" }]);
		expect(() => open("accounts: {work: {home: relative}}")).toThrow(/accounts\.work\.home: .* is not an absolute path/);
		expect(() => open("accounts: {work: {hom: /x}}")).toThrow(/accounts\.work\.hom/);
	});
});

describe("set", () => {
	const TEXT = "# top\nmax_concurrent: 2 # two\n\n# lanes\nlanes:\n  code:\n    max: 3 # three\nspawn_delay: 1s\nretry: 4\n";

	test("keeps comments, order and spelling", async () => {
		const file = open(TEXT);
		await file.set("max_concurrent", "8");
		await file.set("lanes.code.max", "null");
		await file.set("lanes.a.b.priority", 5);
		await file.set("spawn_delay_ms", "500ms");
		await file.set("retry.factor", 3);
		await file.set("env", ["PATH"]);
		expect(file.text()).toBe(
			"# top\nmax_concurrent: 8 # two\n\n# lanes\nlanes:\n  code:\n    max: null # three\n  a.b:\n    priority: 5\nspawn_delay: 500ms\nretry:\n  max: 4\n  factor: 3\nenv: [PATH]\n",
		);
		expect(file.engine().lanes["a.b"]?.priority).toBe(5);
		expect(file.engine().retry).toMatchObject({ max: 4, factor: 3 });
		expect(statSync(file.path).mode & 0o777).toBe(0o600);
	});

	test("makes the file, and unset takes a key out again", async () => {
		const file = open(null);
		expect(await file.set("max_concurrent", "8")).toEqual([{ key: "max_concurrent", value: 8, origin: "config.yml:1:1" }]);
		expect(file.text()).toBe("max_concurrent: 8\n");
		expect(await file.unset("max_concurrent")).toEqual([{ key: "max_concurrent", value: 4, origin: "default" }]);
		await file.unset("lanes.nobody.max");
		expect(file.engine()).toEqual(DEFAULTS);
	});

	test("a value that is wrong changes nothing", async () => {
		const file = open(TEXT);
		await expect(file.set("max_concurrent", "lots")).rejects.toThrow(/max_concurrent: must be a whole number/);
		await expect(file.set("max_konkurrent", "1")).rejects.toMatchObject({ code: "unknown_key", hint: 'did you mean "max_concurrent"?' });
		await expect(file.set("lanes.code.maximum", "1")).rejects.toThrow(/lanes/);
		expect(file.text()).toBe(TEXT);
	});

	test("a refusal names the key; a line only where the file itself is wrong", async () => {
		const file = open("# one\nport: 1\n");
		const said = async (key: string, value: unknown) => file.set(key, value).catch((error) => error.message);
		expect(await said("max_concurrent", "eight")).toBe('max_concurrent: must be a whole number, not "eight"');
		expect(await said("lanes.code.max", "-1")).toBe("lanes.code.max: must be from 0 to 1000000, not -1");
		expect(await said("stop", "{grace: 1}")).toMatch(/^stop\.grace: there is no such key/);
		file.write("# one\nport: none\n");
		expect(await said("max_concurrent", "8")).toBe('config.yml:2:1: port: must be a whole number, not "none"');
		expect(await said("max_concurrent", "eight")).toMatch(/^(?:max_concurrent|config\.yml:2:1: port): must be/);
		// The same words about the same key: the value that the caller gave is meant, not that of the file.
		expect(await said("port", "none")).toBe('port: must be a whole number, not "none"');
	});

	test("an invalid file is fixed by hand, not by set", async () => {
		const file = open(TEXT);
		file.write("max_concurrent: [");
		await expect(file.set("max_concurrent", "1")).rejects.toThrow(/config\.yml:/);
		expect(file.text()).toBe("max_concurrent: [");
	});

	test("a link stays a link", async () => {
		const folder = makeFolder();
		writeFileSync(join(folder, "real.yml"), "max_concurrent: 1\n");
		symlinkSync(join(folder, "real.yml"), join(folder, "config.yml"));
		const file = openConfigFile({ path: join(folder, "config.yml"), host: localHost, log: SILENT });
		await file.set("max_concurrent", 2);
		expect(readFileSync(join(folder, "real.yml"), "utf8")).toBe("max_concurrent: 2\n");
	});
});

test("a key that an entry does not have is no entry with a dot in its name", async () => {
	const file = open("lanes: {default: {}, a.b: {max: 1}}\n");
	for (const [key, said, hint] of [
		["lanes.default.mx", "lanes.default has no key mx", "did you mean lanes.default.max?"],
		["lanes.new.prioriti", "lanes.new has no key prioriti", "did you mean lanes.new.priority?"],
		["lanes.a.b.mx", "lanes.a.b has no key mx", "did you mean lanes.a.b.max?"],
		["agents.claude.envv.A", "agents.claude has no key envv", "did you mean agents.claude.env?"],
	])
		await expect(file.set(key as string, 3)).rejects.toMatchObject({ code: "unknown_key", message: said, hint });
	await file.set("lanes.a.b.max", 2);
	await file.set("lanes.c.d", {});
	await file.set("resources.gpu.big", 2);
	expect([file.engine().lanes["a.b"]?.max, "c.d" in file.engine().lanes, file.engine().resources["gpu.big"]]).toEqual([2, true, 2]);
});

test("keep_awake takes yes and no, too", async () => {
	const file = open("keep_awake: true\n");
	expect(file.settings().keep_awake).toBe("while_running");
	await file.set("keep_awake", "false");
	expect(file.settings().keep_awake).toBe("never");
});

describe("while the daemon runs", () => {
	test("a change is taken, in place or by a new file; an invalid one leaves the last valid one in force until it is fixed", async () => {
		const file = open("max_concurrent: 1\n");
		const taken: number[] = [];
		file.onChange(async (next) => void taken.push(next.config.max_concurrent));
		file.follow();
		file.write("max_concurrent: 2\n");
		await until(() => file.engine().max_concurrent === 2);
		writeFileSync(`${file.path}.x`, "max_concurrent: 3\n");
		renameSync(`${file.path}.x`, file.path);
		await until(() => file.engine().max_concurrent === 3);
		file.write("max_concurrent: 4\nlane: {}\n");
		await until(() => file.problem() !== null);
		expect(file.problem()).toMatchObject({ code: "unknown_key", message: "config.yml:2:1: lane: there is no such key" });
		expect(file.check()).toHaveLength(1);
		expect(file.engine().max_concurrent).toBe(3);
		file.write("max_concurrent: 5\n");
		await until(() => file.problem() === null);
		expect(file.engine().max_concurrent).toBe(5);
		expect(taken).toEqual([2, 3, 5]);
	});

	test("a file that is emptied first and written later is never taken as empty; one that stays empty is", async () => {
		const file = open("max_concurrent: 7\n");
		const seen: number[] = [];
		file.onChange(async (next) => void seen.push(next.config.max_concurrent));
		file.follow();
		await file.reload();
		const turn = (ms: number) => new Promise<void>((resolve) => localHost.after(ms, resolve, "hold"));
		file.write("");
		// Longer than CALM_MS, shorter than EMPTY_MS, after which an empty file would be taken.
		await turn(200);
		file.write("max_concurrent: 9\n");
		await until(() => file.engine().max_concurrent === 9);
		expect(seen).toEqual([9]);
		file.write("");
		await until(() => file.engine().max_concurrent === DEFAULTS.max_concurrent);
	});

	test("a change from before it is followed is taken, too", async () => {
		const file = open("max_concurrent: 1\n");
		file.write("max_concurrent: 2\n");
		file.follow();
		await until(() => file.engine().max_concurrent === 2);
	});

	test("a key that is removed goes back to its preset or default, in the scheduler too", async () => {
		const file = open(
			"preset: loops\nmax_concurrent: 1\nlanes: {extra: {max: 1}, plan: {max: 9}}\naccounts: {a: {}}\norder: {age_boost_max: 7}\n",
		);
		const scheduler = await openScheduler({ path: ":memory:", config: completeInput(file.engine(), DEFAULTS) });
		onTestFinished(() => scheduler.close());
		expect(scheduler.config()).toEqual(file.engine());
		file.onChange((next) => scheduler.configure(completeInput(next.config, scheduler.config())));
		file.write("preset: loops\n");
		await file.reload();
		expect(scheduler.config()).toEqual(PRESETS.loops);
		file.write("");
		await file.reload();
		expect(scheduler.config()).toEqual(DEFAULTS);
	});

	test("every preset stays the same through completeInput", () => {
		for (const from of Object.values(PRESETS))
			for (const to of Object.values(PRESETS)) expect(readConfig(completeInput(to, from), from)).toEqual(to);
	});

	test("a change that the scheduler refuses is not taken", async () => {
		const file = open("max_concurrent: 1\n");
		file.onChange(async () => {
			throw new Error("the disk is full");
		});
		file.write("max_concurrent: 2\n");
		await file.reload();
		expect([file.engine().max_concurrent, file.problem()?.message]).toEqual([1, "the disk is full"]);
	});

	test("a set or unset that the scheduler refuses leaves the file as it is", async () => {
		const text = "# mine\nmax_concurrent: 1\n";
		const file = open(text);
		file.onChange(async () => {
			throw new Error("the disk is full");
		});
		await expect(file.set("max_concurrent", "2")).rejects.toThrow("the disk is full");
		await expect(file.unset("max_concurrent")).rejects.toThrow("the disk is full");
		expect([file.text(), file.engine().max_concurrent, file.problem()]).toEqual([text, 1, null]);
		await file.reload();
		expect([file.engine().max_concurrent, file.problem()]).toEqual([1, null]);
	});

	test("a set that cannot be written is taken back from the scheduler", async () => {
		const file = open("max_concurrent: 1\n");
		const taken: unknown[] = [];
		file.onChange(async (next) => {
			taken.push(next.config.max_concurrent);
			// The folder goes after the scheduler has agreed.
			rmSync(dirname(file.path), { recursive: true, force: true });
		});
		await expect(file.set("max_concurrent", "2")).rejects.toThrow(/ENOENT/);
		expect([taken, file.engine().max_concurrent]).toEqual([[2, 1], 1]);
	});
});
