// Each thing of a home that is of the wrong kind (a folder, a pipe, a link that leads nowhere where a file belongs): the daemon mends it or refuses with its name, doctor says it,
// and neither hangs nor prints a stack.

import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";

type Kind = "folder" | "pipe" | "link" | "file";
const MAKE: Record<Kind, (path: string) => void> = {
	folder: (path) => {
		mkdirSync(path);
		writeFileSync(join(path, "kept"), "mine");
	},
	pipe: (path) => void execFileSync("mkfifo", [path]),
	link: (path) => symlinkSync("/nowhere/at/all", path),
	file: (path) => writeFileSync(path, "not what belongs here"),
};

const CASES: [string, Kind[]][] = [
	["token", ["folder", "pipe", "link"]],
	["viewer-token", ["folder", "pipe"]],
	["tag", ["folder", "pipe", "link"]],
	["zone", ["folder", "pipe"]],
	["lock.db", ["folder", "pipe"]],
	["config.yml", ["folder", "pipe"]],
	["daemon.json", ["folder", "pipe"]],
	["daemon.log", ["folder", "pipe"]],
	["sluice.db", ["folder", "pipe"]],
	["sluice.db-wal", ["folder", "pipe"]],
	["sluice.db-mark", ["folder", "pipe", "link"]],
	["sluice.sock", ["folder", "pipe", "file", "link"]],
	["socket", ["folder", "pipe", "link"]],
	["exits", ["folder", "file", "link"]],
	["store", ["folder", "pipe"]],
	["host.json", ["folder", "pipe"]],
	["runs", ["file", "pipe", "link"]],
	["worktrees", ["file"]],
	["repos", ["file"]],
	["recipes", ["file", "pipe"]],
	["bin", ["file"]],
];

/** What the daemon replaces or does without: it comes up, and takes jobs. Everything else is refused. */
const MENDED: Record<string, Kind[]> = { exits: ["file", "link"], bin: ["file"] };

test.each(CASES.flatMap(([name, kinds]) => kinds.map((kind) => [name, kind] as const)))("%s is a %s", async (name, kind) => {
	const home = new TestHome();
	home.make();
	const path = join(home.path, name);
	rmSync(path, { recursive: true, force: true });
	MAKE[kind](path);
	// The end of the test reads the tag: from a pipe it would read without end.
	onTestFinished(() => rmSync(path, { recursive: true, force: true }));
	const child = home.spawn();
	const answers = async () => {
		const client = await connect(home.socket).catch(() => null);
		client?.close();
		return client !== null;
	};
	const how = await until(async () => (child.exitCode !== null ? "refused" : (await answers()) ? "up" : undefined));
	const doctor = await home.run(["doctor"]);
	for (const said of [child.said(), doctor.out, doctor.err]) {
		expect(said).not.toMatch(/^\s+at .*:\d+/m);
		expect(said).not.toMatch(/ERR_|the daemon broke/);
	}
	expect(how).toBe(MENDED[name]?.includes(kind) ? "up" : "refused");
	if (how === "up") expect(await home.run(["add", "--wait", "--", "true"])).toMatchObject({ code: 0 });
	else {
		expect(child.exitCode).toBeLessThanOrEqual(2);
		expect(child.said()).toContain(`${path} is a `);
		expect(doctor.out.split("\n").filter((line) => line.startsWith("BAD ") && line.includes(`${path} is a `))).not.toEqual([]);
		// A command that would start it in the background says the same, and does not wait.
		const added = await home.run(["add", "--", "true"]);
		expect(added.code).not.toBe(0);
		expect(added.err).toContain(path);
		expect(added.err).not.toMatch(/^\s+at .*:\d+/m);
		expect((await home.run(["status"])).err).not.toMatch(/^\s+at .*:\d+|EISDIR/m);
	}
});

test("several things of the wrong kind are all named", async () => {
	const home = new TestHome();
	home.make();
	const paths = ["sluice.db-mark", "socket", "runs"].map((name) => join(home.path, name));
	for (const [index, kind] of (["folder", "pipe", "file"] as const).entries()) MAKE[kind](paths[index] as string);
	const child = home.spawn();
	await until(() => child.exitCode !== null);
	const doctor = await home.run(["doctor"]);
	for (const path of paths) for (const said of [child.said(), doctor.out]) expect(said).toContain(`${path} is a `);
});
