// The version of a program, asked of real files.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../test/make/folder.ts";
import { createAgents } from "./agents.ts";
import { createVersions } from "./program-versions.ts";

/** A program that prints this version and records that it was called. */
function writeProgram(folder: string, version: string, name = "opencode"): void {
	writeFileSync(join(folder, name), `#!/bin/sh\necho asked >> ${folder}/asked\necho ${version}\n`, { mode: 0o755 });
}
const timesAsked = (folder: string) => readFileSync(join(folder, "asked"), "utf8").split("\n").length - 1;

test("is found by the run's PATH and asked for once, until the file changes", async () => {
	const folder = makeFolder();
	const surroundings = { env: { PATH: `${folder}:/bin:/usr/bin` }, cwd: folder };
	const versionOf = createVersions();
	writeProgram(folder, "1.18.2");
	expect(await versionOf("opencode", surroundings)).toEqual({ there: true, version: "1.18.2" });
	expect(await versionOf("./opencode", surroundings)).toEqual({ there: true, version: "1.18.2" });
	expect(await versionOf("opencode", surroundings)).toEqual({ there: true, version: "1.18.2" });
	expect(timesAsked(folder)).toBe(1);
	writeProgram(folder, "1.18.3-and-more");
	expect(await versionOf("opencode", surroundings)).toEqual({ there: true, version: "1.18.3-and-more" });
	expect(timesAsked(folder)).toBe(2);
});

test("is found for a program that reads its standard input first", async () => {
	const folder = makeFolder();
	writeProgram(folder, "$(cat)1.18.2");
	const surroundings = { env: { PATH: `${folder}:/bin:/usr/bin` }, cwd: folder };
	expect(await createVersions()("opencode", surroundings)).toEqual({ there: true, version: "1.18.2" });
});

test("is unknown for a program that fails, which is asked again, and for a missing program", async () => {
	const folder = makeFolder();
	const surroundings = { env: { PATH: `${folder}:/bin:/usr/bin` }, cwd: folder };
	const versionOf = createVersions();
	writeProgram(folder, "x; exit 1");
	expect(await versionOf("opencode", surroundings)).toEqual({ there: true, version: null });
	expect(await versionOf("opencode", surroundings)).toEqual({ there: true, version: null });
	expect(timesAsked(folder)).toBe(2);
	expect(await versionOf("missing-program", surroundings)).toEqual({ there: false });
	expect(await versionOf("/nowhere/opencode", surroundings)).toEqual({ there: false });
});

test("of an opencode that is too old is a problem that the list of agents shows", async () => {
	const folder = makeFolder();
	const env = { PATH: `${folder}:/bin:/usr/bin`, HOME: folder };
	const listed = async (agents = {}) =>
		(await createAgents(() => ({ agents, accounts: {}, env: [] }), env).list()).find(({ name }) => name === "opencode");
	writeProgram(folder, "1.18.2");
	expect((await listed())?.problem).toContain("opencode 1.18.2 may not obey permission edit");
	writeProgram(folder, "1.18.33");
	expect((await listed())?.problem).toBeNull();
});
