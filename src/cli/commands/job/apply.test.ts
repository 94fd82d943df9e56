// Manifests: what is sent of them, and the line of each mistake.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the manifests' own

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openCommandLine, Refusal, SETTINGS } from "../../../../test/make/daemons/command-line.ts";

describe("apply", () => {
	const YAML = `batch: docs
defaults: {lane: code, env: {A: "1"}}
jobs:
  write: {command: [make, docs]}
  check:
    command: [make, check]
    after: [write]
    cwd: sub
    env: {B: "2"}
`;
	test("a manifest, with the caller's folder and environment", async () => {
		const line = await openCommandLine({ ...SETTINGS, "job.apply": { jobs: [1, 2], names: { write: 1, check: 2 }, skipped: [] } });
		mkdirSync(join(line.home, "m"));
		writeFileSync(join(line.home, "m/docs.yml"), YAML);
		expect(await line.run("apply m/docs.yml")).toEqual({ code: 0, out: "1\twrite\n2\tcheck\n", err: "2 jobs added\n" });
		const folder = join(line.home, "m");
		expect(line.asked.at(-1)?.params).toEqual({
			env: { PATH: "/bin" },
			manifest: {
				batch: "docs",
				defaults: { lane: "code", cwd: folder, env: { A: "1" } },
				jobs: [
					{ name: "write", command: ["make", "docs"] },
					{ name: "check", command: ["make", "check"], after: ["write"], cwd: join(folder, "sub"), env: { B: "2" } },
				],
			},
		});
		expect((await line.run("apply --check m/docs.yml")).out).toBe("wave 1    write\nwave 2    check\n");
		expect(line.asked.at(-1)?.params.check).toBe(true);
	});

	test("from stdin, as JSON", async () => {
		const line = await openCommandLine({
			...SETTINGS,
			"job.apply": { jobs: [1], names: {}, skipped: [{ name: "b", job: 4, reason: "is there already" }] },
		});
		const stdin = (async function* () {
			yield '{"jobs": [{"command": ["x"]}]}';
		})();
		const result = await line.run("apply -", { stdin });
		expect(result).toEqual({
			code: 0,
			out: "1\n",
			err: "1 job added, 1 left as it is\njobs without a name would be added again by the same file\nleft b: job 4 is there already\n",
		});
	});

	test.each([
		["jobs:\n  - {command: [x], lane: nope}\n", "jobs[0].lane", "m.yml:2:26: jobs[0].lane: no such lane"],
		["jobs:\n  build:\n    command: [x]\n    lane: nope\n", "jobs.build.lane", "m.yml:4:11: jobs.build.lane: no such lane"],
		['{"jobs": [\n {"command": ["x"]},\n {"lane": 5}]}', "jobs[1].lane", "m.yml:3:11: jobs[1].lane: no such lane"],
	])("a refusal names the line: %j", async (text, field, said) => {
		const line = await openCommandLine({
			...SETTINGS,
			"job.apply": () => {
				throw new Refusal(`${field}: no such lane`, { code: "not_found", field });
			},
		});
		writeFileSync(join(line.home, "m.yml"), text);
		expect(await line.run("apply m.yml")).toEqual({ code: 3, out: "", err: `sluice: ${said}\n` });
	});

	test.each([
		["jobs: [", 2, "m.yml:1:8: "],
		["jobs:\n\t- x", 2, "m.yml:2:"],
		["[]", 2, "m.yml has no `jobs:`"],
		["", 2, "m.yml has no `jobs:`"],
		["batch: x", 2, "m.yml has no `jobs:`"],
		["jobs: 5", 2, "m.yml:1:7: jobs must be a list"],
		["jobs: [5]", 2, "m.yml:1:8: jobs[0] must be keys and values"],
		["jobs: {a: 5}", 2, "m.yml:1:11: jobs.a must be keys and values"],
	])("a manifest that cannot be read: %j", async (text, code, said) => {
		const line = await openCommandLine(SETTINGS);
		writeFileSync(join(line.home, "m.yml"), text);
		const result = await line.run("apply m.yml");
		expect(result.code).toBe(code);
		expect(result.err).toContain(said);
	});

	test("for_each: one job for each, with the line of a mistake in it", async () => {
		const line = await openCommandLine({
			...SETTINGS,
			"job.apply": () => {
				throw new Refusal("jobs[2].lane: no such lane", { code: "not_found", field: "jobs[2].lane" });
			},
		});
		writeFileSync(
			join(line.home, "m.yml"),
			"jobs:\n  first: {command: [x]}\n  each:\n    for_each: [de, fr]\n    lane: nope\n    command: [x, '${item}']\n",
		);
		const result = await line.run("apply m.yml");
		expect(line.asked.at(-1)?.params.manifest).toMatchObject({ jobs: [{ name: "first" }, { name: "each-de" }, { name: "each-fr" }] });
		expect(result.err).toBe("sluice: m.yml:5:11: jobs[2].lane: no such lane\n");
		writeFileSync(join(line.home, "m.yml"), "jobs:\n  each:\n    for_each: [de]\n    command: [x, '${itm}']\n");
		expect(await line.run("apply m.yml")).toEqual({
			code: 2,
			out: "",
			err: 'sluice: m.yml:4:18: jobs[0].command[1]: there is no variable "itm" in for_each\n        did you mean "${item}"?\n',
		});
	});

	test("all mistakes are printed together: of the file, of the daemon, and missing folders", async () => {
		const line = await openCommandLine({
			...SETTINGS,
			"job.apply": () => {
				const also = [{ message: "jobs[1].lane: no such lane", field: "jobs[1].lane", hint: "known: code" }];
				throw new Refusal("jobs[0].priority: must be a number", { code: "invalid", field: "jobs[0].priority", also });
			},
		});
		writeFileSync(
			join(line.home, "m.yml"),
			"jobs:\n  - {command: [x], priority: a, cwd: /none}\n  - {command: [x], lane: b, cwd: /none, after: [1]}\n",
		);
		expect(await line.run("apply --check m.yml")).toEqual({
			code: 2,
			out: "",
			err: [
				"sluice: m.yml:2:30: jobs[0].priority: must be a number",
				"sluice: m.yml:2:38: jobs[0].cwd: there is no folder /none",
				"        mkdir -p /none makes it",
				"sluice: m.yml:3:26: jobs[1].lane: no such lane",
				"        known: code",
				"",
			].join("\n"),
		});
		writeFileSync(join(line.home, "n.yml"), "jobs: [5, {for_each: [], command: [x]}, 6]\n");
		expect((await line.run("apply n.yml")).err.split("\n").filter((one) => one.startsWith("sluice:"))).toHaveLength(3);
	});

	test("--update and --again are passed on; prints what was changed and what was left", async () => {
		const line = await openCommandLine({
			...SETTINGS,
			"job.apply": {
				jobs: [9],
				names: { new: 9, test: 2, build: 1 },
				skipped: [{ name: "build", job: 1, reason: "running" }],
				updated: [{ name: "test", job: 2 }],
				not_named: [{ name: "old", job: 3 }],
			},
		});
		writeFileSync(join(line.home, "m.yml"), "jobs: {new: {command: [x]}, test: {command: [x]}, build: {command: [x]}}\n");
		expect(await line.run("apply --update m.yml")).toEqual({
			code: 0,
			out: "9\tnew\n",
			err: [
				"1 job added, 1 changed, 1 left as it is",
				"changed test: job 2",
				"left build: job 1 runs: left as it is, though the file says something else now",
				"not in the file: job 3 (old) of its batch; it goes on, sluice cancel 3 ends it",
				"",
			].join("\n"),
		});
		expect(line.asked.at(-1)?.params).toMatchObject({ update: true });
		expect(await line.run("apply --update --again m.yml")).toMatchObject({ code: 2 });
	});

	test("the hint of a refusal names the file", async () => {
		const line = await openCommandLine({
			...SETTINGS,
			"job.apply": () => {
				throw new Refusal("all of it has ended", { code: "conflict", field: "manifest", hint: "sluice apply FILE --again runs it anew" });
			},
		});
		writeFileSync(join(line.home, "m.yml"), "jobs: {a: {command: [x]}}\n");
		expect(await line.run("apply m.yml")).toEqual({
			code: 4,
			out: "",
			err: "sluice: all of it has ended\n        sluice apply m.yml --again runs it anew\n",
		});
	});

	test("--schema needs no file and no daemon", async () => {
		const line = await openCommandLine(undefined);
		const { code, out } = await line.run("apply --schema");
		expect([code, JSON.parse(out).title]).toEqual([0, "Sluice manifest"]);
		expect((await line.run("apply")).code).toBe(2);
	});

	test("a missing file", async () => {
		const line = await openCommandLine(SETTINGS);
		expect(await line.run("apply /")).toMatchObject({ code: 2, err: expect.stringContaining("/ is a folder") });
		expect(await line.run("apply no.yml")).toEqual({ code: 3, out: "", err: "sluice: there is no file no.yml\n" });
	});
});
