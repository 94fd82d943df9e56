// The command as it is shipped: bundled, with a real daemon, real pipes and real signals.

import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
let shipped = "";
let home = "";

/** A package of our own, so that nobody's build comes in between. */
beforeAll(() => {
	shipped = mkdtempSync(join(tmpdir(), "sluice-shipped-"));
	home = join(shipped, "home");
	mkdirSync(join(shipped, "dist"));
	for (const file of ["package.json", "bin"]) cpSync(join(ROOT, file), join(shipped, file), { recursive: true });
	symlinkSync(join(ROOT, "node_modules"), join(shipped, "node_modules"));
	const built = spawnSync(process.execPath, [join(ROOT, "scripts/bundle.mjs"), join(shipped, "dist")], { encoding: "utf8" });
	expect([built.status, built.stderr]).toEqual([0, ""]);
});
afterAll(() => {
	sluice("down", "--stop-runs");
	rmSync(shipped, { recursive: true, force: true });
});

const env = () => ({ PATH: process.env.PATH, HOME: shipped, USER: "ann", SLUICE_HOME: home, SLUICE_PORT: "null" });
const program = () => join(shipped, "bin/sluice.js");

function sluice(...args: string[]) {
	const { status, signal, stdout, stderr } = spawnSync(process.execPath, [program(), ...args], {
		encoding: "utf8",
		env: env(),
		cwd: shipped,
	});
	return { code: status ?? signal, out: stdout, err: stderr };
}

describe("the shipped command", () => {
	test("looks without a daemon, and starts one when it needs it", () => {
		expect(sluice("status")).toMatchObject({ code: 0, out: "", err: expect.stringMatching(/^No daemon is running\.\n/) });
		expect(existsSync(join(home, "sluice.sock"))).toBe(false);
		expect(sluice("add", "--name", "first", "--wait", "--", "echo", "a  b")).toMatchObject({ code: 0, out: "1\n" });
		expect(sluice("logs", "first").out).toBe("a  b\n");
		expect(sluice("status").out).toContain("Queued: 0 total, 0 ready\n");
	});

	test("works from a folder that is gone, where it needs none", () => {
		const gone = (...args: string[]) => {
			const line = 'D=$(mktemp -d); cd "$D"; rmdir "$D"; exec "$0" "$@"';
			const { status, stdout, stderr } = spawnSync("sh", ["-c", line, process.execPath, program(), ...args], {
				encoding: "utf8",
				env: env(),
			});
			return { code: status, out: stdout, err: stderr };
		};
		expect(gone("version")).toMatchObject({ code: 0, out: expect.stringMatching(/^sluice /) });
		sluice("down");
		expect(gone("config", "check")).toMatchObject({ code: 0 });
		expect(JSON.parse(gone("doctor", "--json").out)).toHaveProperty("checks");
		expect(gone("list")).toMatchObject({ code: 0 });
		expect(gone("add", "-q", "--cwd", "/", "--wait", "--", "true")).toMatchObject({ code: 0, err: "" });
		const clear = "sluice: the folder that you are in does not exist any more\n        go to another one, or name a whole path\n";
		for (const line of ["add -- true", "add --cwd sub -- true", "apply jobs.yml", "repo add", "--home rel status"])
			expect([line, gone(...line.split(" "))]).toEqual([line, { code: 2, out: "", err: clear }]);
	});

	test("passes on how a job ended", () => {
		const id = sluice("add", "-q", "--", "sh", "-c", "exit 7").out.trim();
		expect(sluice("wait", id).code).toBe(1);
		expect(sluice("wait", id, "--exit-code").code).toBe(7);
		expect(sluice("show", "999999")).toMatchObject({ code: 3, out: "" });
		expect(sluice("approve", id)).toMatchObject({ code: 4, out: "" });
	});

	test("a job that adds one is its parent", () => {
		const outer = sluice("add", "-q", "--wait", "--", process.execPath, program(), "add", "--wait", "--name", "inner", "--", "true");
		expect(outer.code).toBe(0);
		const { job } = JSON.parse(sluice("show", "inner", "--json").out) as { job: { parent: number; depth: number } };
		expect([job.parent, job.depth]).toEqual([Number(outer.out), 1]);
	});

	test("a reader that goes away is no error", () => {
		const line = `"${process.execPath}" "${program()}" --help | head -n 1; echo "\${PIPESTATUS[0]}"`;
		const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", line], { encoding: "utf8", env: env() });
		expect([stdout.split("\n")[1], stderr]).toEqual(["0", ""]);
	});

	test.each(["SIGINT", "SIGTERM"] as const)("%s ends a wait as it ends any program", async (signal) => {
		const id = sluice("add", "-q", "--", "sleep", "600").out.trim();
		onTestFinished(() => void sluice("cancel", id));
		const waiting = spawn(process.execPath, [program(), "wait", id], { env: env(), stdio: ["ignore", "ignore", "pipe"] });
		await new Promise((resolve) => waiting.stderr.once("data", resolve));
		const ended = new Promise((resolve) => waiting.once("exit", (code, by) => resolve(by ?? code)));
		waiting.kill(signal);
		expect(await ended).toBe(signal);
	});

	test("down leaves no socket, and the next command starts a new daemon", () => {
		expect(sluice("down").code).toBe(0);
		expect(readdirSync(home).includes("sluice.sock")).toBe(false);
		expect(sluice("down")).toEqual({ code: 0, out: "", err: "no daemon is running\n" });
		expect(sluice("list", "--json").code).toBe(0);
	});

	test("a configuration that is wrong is named with its line", () => {
		sluice("down");
		writeFileSync(join(home, "config.yml"), "max_concurent: 5\n");
		onTestFinished(() => rmSync(join(home, "config.yml")));
		const { code, out, err } = sluice("list", "--json");
		expect([code, out]).toEqual([2, ""]);
		expect(JSON.parse(err)).toMatchObject({
			schema_version: 1,
			error: { code: "invalid", message: expect.stringContaining("config.yml:1:1: max_concurent") },
		});
		expect(sluice("config", "check")).toMatchObject({ code: 2, out: expect.stringContaining('did you mean "max_concurrent"?') });
	});
});
