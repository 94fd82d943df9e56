// Completion: scripts that their shells can parse, and what bash completes.

import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { job, openCommandLine } from "../../../test/make/daemons/command-line.ts";
import { makeFolder } from "../../../test/make/folder.ts";
import { COMMANDS } from "../catalogue.ts";
import { bash, fish, zsh } from "./completion.ts";

const SCRIPTS = { bash: bash(COMMANDS), zsh: zsh(COMMANDS), fish: fish(COMMANDS) };
const has = (shell: string) => spawnSync(shell, ["--version"]).status === 0;

/** What bash completes for the last word of a line. */
function offered(words: string[]): string[] {
	const folder = makeFolder();
	writeFileSync(
		join(folder, "sluice"),
		`#!/bin/sh\n[ "$1 $2" = "__complete job" ] && printf '7\\tqueued make test\\nbuild\\trunning\\n'\n`,
	);
	chmodSync(join(folder, "sluice"), 0o755);
	const script = `${SCRIPTS.bash}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sluice; printf '%s\\n' "\${COMPREPLY[@]}"`;
	const out = execFileSync("bash", ["--norc", "-c", script, "bash", "sluice", ...words], {
		encoding: "utf8",
		cwd: folder,
		env: { PATH: `${folder}:${process.env.PATH}` },
	});
	return out.split("\n").filter(Boolean);
}

describe("scripts", () => {
	test.each(["bash", "zsh"] as const)("%s can read its own", (shell) => {
		if (shell !== "bash" && !has(shell)) return;
		const result = spawnSync(shell, ["-n"], { input: SCRIPTS[shell], encoding: "utf8" });
		expect([result.status, result.stderr]).toEqual([0, ""]);
	});

	test("fish can read its own", () => {
		if (!has("fish")) return;
		expect(spawnSync("fish", ["--no-execute"], { input: SCRIPTS.fish, encoding: "utf8" }).status).toBe(0);
	});

	test.each(["bash", "zsh", "fish"] as const)("%s names every command and option, and nothing hidden as a command", (shell) => {
		for (const { name, options = [] } of COMMANDS.filter((command) => !command.hidden))
			for (const word of [...name.split(" "), ...options.map((option) => option.name)]) expect(SCRIPTS[shell]).toContain(word);
		expect(SCRIPTS[shell]).not.toMatch(/['(| ]__complete['):|]/);
	});
});

describe("bash offers", () => {
	test("commands, verbs, options", () => {
		expect(offered(["sta"])).toEqual(["status", "stats"]);
		expect(offered(["lane", ""])).toEqual(["list", "set", "remove"]);
		expect(offered(["list", "--st"])).toEqual(["--status"]);
		expect(offered(["--json", "li"])).toEqual(["list"]);
	});
	test("values: choices, ids and names of a running daemon", () => {
		expect(offered(["list", "--status", "q"])).toEqual(["queued"]);
		expect(offered(["show", ""])).toEqual(["7", "build"]);
		expect(offered(["add", "--after", "b"])).toEqual(["build"]);
		expect(offered(["completion", ""])).toEqual(["bash", "zsh", "fish"]);
	});
	test("files after --", () => {
		expect(offered(["add", "--", "slu"])).toEqual(["sluice"]);
	});
});

describe("__complete", () => {
	test("ids and names with what they are, once each", async () => {
		const line = await openCommandLine({
			"job.list": { jobs: [job(7, { name: "build" }), job(8, { name: "$(reboot)" })] },
			"lane.list": { lanes: [{ name: "code", queued: 1, running: 0 }] },
		});
		expect((await line.run("__complete job")).out).toBe("7\tqueued make test\nbuild\tqueued make test\n8\tqueued make test\n");
		expect((await line.run("__complete lane")).out).toBe("code\t1 queued, 0 running\n");
	});
	test("nothing, and no error, if no daemon runs", async () => {
		const line = await openCommandLine(undefined);
		expect(await line.run("__complete job")).toEqual({ code: 0, out: "", err: "" });
	});
	test("completion prints the script", async () => {
		const line = await openCommandLine(undefined);
		expect((await line.run("completion bash")).out).toBe(SCRIPTS.bash);
	});
});
