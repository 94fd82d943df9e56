// Real programs through the process layer: what they receive, what is recorded of them, and that an attempt starts only once.

import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { getPriority } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeLaunched } from "../../../test/make/daemons/launched.ts";
import { makeFolder } from "../../../test/make/folder.ts";
import { until } from "../../../test/make/until.ts";

const exited = (code: number, signal: string | null = null) => ({ state: "exited", code, signal, launch_failed: null });
const NODE = process.execPath;

describe("the end of a program", () => {
	test("its exit code and output are recorded, and the listener is called", async () => {
		const bed = await makeLaunched();
		expect(bed.look("1.1")).toEqual({ state: "unstarted" });
		await bed.launch("1.1", ["sh", "-c", "echo out; echo err >&2; exit 3"]);
		expect(await bed.end("1.1")).toEqual(exited(3));
		expect([bed.read("1.1", "stdout.log"), bed.read("1.1", "stderr.log"), bed.read("1.1", "exit")]).toEqual(["out\n", "err\n", "1 3\n"]);
		await until(() => bed.exits.length === 1);
		expect(bed.exits).toEqual(["1.1"]);
		expect(readdirSync(bed.dirOf("1.1")).sort()).toEqual(["exit", "start", "stderr.log", "stdout.log"]);
	});

	test("a signal is recognised; 128 + n counts as one only for usual signals", async () => {
		const bed = await makeLaunched();
		await bed.launch("1.1", ["sh", "-c", "kill -KILL $$"]);
		await bed.launch("1.2", ["sh", "-c", "kill -SEGV $$"]);
		await bed.launch("1.3", ["sh", "-c", "exit 200"]);
		await bed.launch("1.4", ["sh", "-c", "exit 125"]);
		expect(await bed.end("1.1")).toEqual(exited(137, "SIGKILL"));
		expect(await bed.end("1.2")).toEqual(exited(139, "SIGSEGV"));
		expect(await bed.end("1.3")).toEqual(exited(200));
		expect(await bed.end("1.4")).toEqual(exited(125));
	});

	test("on a host with a lease it has a lower priority than the daemon, however it was started", async () => {
		const lowered = String(Math.min(19, getPriority() + 5));
		const leased = await makeLaunched({ leased: true });
		// More than the pool has shims, so that the launcher starts some of them.
		const runs = Array.from({ length: 20 }, (_, i) => `${i}.1`);
		for (const run of runs) await leased.launch(run, ["sh", "-c", "nice; while [ ! -e go ]; do sleep 0.05; done"], { cwd: leased.home });
		await until(() => runs.every((run) => leased.read(run, "stdout.log") !== ""));
		expect([...new Set(runs.map((run) => leased.read(run, "stdout.log").trim()))]).toEqual([lowered]);
		writeFileSync(join(leased.home, "go"), "");
		for (const run of runs) await leased.end(run);
		const plain = await makeLaunched();
		await plain.launch("1.1", ["nice"]);
		await plain.end("1.1");
		expect(plain.read("1.1", "stdout.log").trim()).toBe(String(getPriority()));
	});

	test("many at once, more than the pool has shims", async () => {
		const bed = await makeLaunched();
		const runs = Array.from({ length: 60 }, (_, i) => `${i}.1`);
		await Promise.all(runs.map((run, i) => bed.launch(run, ["sh", "-c", `echo ${i}; exit ${i}`])));
		for (const [i, run] of runs.entries()) {
			expect(await bed.end(run)).toEqual(exited(i));
			expect(bed.read(run, "stdout.log")).toBe(`${i}\n`);
		}
	});
});

describe("what a program is given", () => {
	const ODD = [
		"",
		" ",
		"it's",
		`"double"`,
		"a\nb\n\n",
		"\n",
		"$(id)",
		"`id`",
		"$HOME $PATH $$ $((1+1))",
		"-rf",
		"--",
		"\\",
		"\\n\\0",
		"*",
		"~",
		"#!",
		"a;b|c&d>e<f",
		"\u0001\u0007\u001b[0m\u007f",
		"äöü €  日本語 👩‍🚀",
		"\u00a0\u0081\u0085\u0088\u00ff",
		"!!",
		"\r\n\t",
		"SLUICE_x\nexit\n",
		"x".repeat(100_000),
	];
	const SHOW = `process.stdout.write(JSON.stringify([process.argv.slice(1), process.env]))`;

	for (const shims of ["used again", "of the launcher"])
		test(`arguments and environment, byte for byte, by shims ${shims}`, async () => {
			const bed = await makeLaunched();
			// Occupies the whole pool of sixteen shims.
			if (shims === "of the launcher") for (let i = 1; i <= 16; i++) await bed.launch(`9.${i}`, ["sleep", "1000"]);
			const env = {
				PATH: "/usr/bin:/bin",
				...Object.fromEntries(ODD.map((text, i) => [`V${i}`, text])),
				PWD: "/wrong",
				OPTIND: "x",
				IFS: "x",
				_d: "mine",
				UID: "-1",
				"npm.config-x": "1",
				"BASH_FUNC_f%%": "() { :; }",
				ENV: "/nowhere",
				lower: "y",
			};
			await bed.launch("1.1", [NODE, "-e", SHOW, "--", ...ODD], { env });
			expect(await bed.end("1.1")).toEqual(exited(0));
			expect(JSON.parse(bed.read("1.1", "stdout.log"))).toEqual([ODD, { ...env, SLUICE_MARK: bed.markOf("1.1") }]);
		});

	test("an empty environment stays empty but for the mark", async () => {
		const bed = await makeLaunched();
		await bed.launch("1.1", ["/usr/bin/env"], { env: {} });
		await bed.end("1.1");
		expect(bed.read("1.1", "stdout.log")).toBe(`SLUICE_MARK=${bed.markOf("1.1")}\n`);
	});

	test("nothing of one run reaches the next one of the same shim", async () => {
		const bed = await makeLaunched();
		await bed.launch("1.1", ["true"], { env: { PATH: "/usr/bin:/bin", SECRET: "x" }, cwd: "/usr" });
		await bed.end("1.1");
		await bed.launch("1.2", ["sh", "-c", "/usr/bin/env; pwd"], { env: {} });
		await bed.end("1.2");
		expect(bed.read("1.2", "stdout.log").split("\n").sort()).toEqual(["", bed.home, `PWD=${bed.home}`, `SLUICE_MARK=${bed.markOf("1.2")}`]);
		expect(bed.read("1.2", "start").split(" ")[1]).toBe(bed.read("1.1", "start").split(" ")[1]);
	});

	test("stdin: a file, or nothing", async () => {
		const bed = await makeLaunched();
		writeFileSync(join(bed.home, "prompt.md"), "hello\n");
		await bed.launch("1.1", ["cat"], { stdin: join(bed.home, "prompt.md") });
		await bed.launch("1.2", ["cat"]);
		expect([await bed.end("1.1"), await bed.end("1.2")]).toEqual([exited(0), exited(0)]);
		expect([bed.read("1.1", "stdout.log"), bed.read("1.2", "stdout.log")]).toEqual(["hello\n", ""]);
	});

	test("the session of its shim, which is not ours; default signals, no open files of ours", async () => {
		const bed = await makeLaunched();
		const show = "grep -E 'Sig(Ign|Blk)' /proc/self/status; ls /proc/$$/fd; cut -d ' ' -f 5,6 /proc/$$/stat";
		await bed.launch("1.1", ["sh", "-c", show]);
		await bed.end("1.1");
		const shim = bed.read("1.1", "start").split(" ")[1];
		const fds = execFileSync("sh", ["-c", "ls /proc/$$/fd"], { encoding: "utf8" });
		expect(bed.read("1.1", "stdout.log")).toBe(`SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n${fds}${shim} ${shim}\n`);
	});
});

describe("a program that cannot be started", () => {
	test("says why, and the shim goes on", async () => {
		const bed = await makeLaunched();
		const path = (name: string) => join(bed.home, name);
		writeFileSync(path("plain"), "echo hello\n");
		writeFileSync(path("orphan"), "#! /no/such/interpreter -x\n");
		chmodSync(path("orphan"), 0o755);
		mkdirSync(path("folder"));
		const failed = (code: number, why: string, missing?: "program" | "folder") => ({
			state: "exited",
			code,
			signal: null,
			launch_failed: why,
			...(missing === undefined ? {} : { missing }),
		});
		const cases: [string[], Partial<{ cwd: string; stdin: string; env: Record<string, string> }>, ReturnType<typeof failed>][] = [
			[["no-such-thing"], {}, failed(127, "no such program in PATH: no-such-thing", "program")],
			[["sh"], { env: { PATH: "/nowhere" } }, failed(127, "no such program in PATH: sh", "program")],
			[["cd"], { env: { PATH: "/nowhere" } }, failed(127, "no such program in PATH: cd", "program")],
			[["/no/such"], {}, failed(127, "no such program: /no/such", "program")],
			[["./here"], {}, failed(127, "no such program: ./here", "program")],
			[["./plain"], {}, failed(126, "not executable: ./plain", "program")],
			[[path("folder")], {}, failed(126, `a folder, not a program: ${path("folder")}`, "program")],
			[["./orphan"], {}, failed(127, "no such interpreter: /no/such/interpreter (of ./orphan)", "program")],
			[["true"], { cwd: path("nowhere it's $x\\n") }, failed(126, `no such cwd: ${path("nowhere it's $x\\n")}`, "folder")],
			[["true"], { cwd: path("plain") }, failed(126, `no such cwd: ${path("plain")}`, "folder")],
			[["true"], { stdin: path("missing") }, failed(126, `cannot read stdin: ${path("missing")}`)],
		];
		mkdirSync(join(bed.dirOf("98.1"), "stdout.log"), { recursive: true });
		await bed.launch("98.1", ["true"]);
		expect(await bed.end("98.1")).toEqual(failed(126, `cannot write the logs in ${bed.dirOf("98.1")}`));
		for (const [i, [argv, more, expected]] of cases.entries()) {
			await bed.launch(`${i}.1`, argv, more);
			expect(await bed.end(`${i}.1`)).toEqual(expected);
		}
		await bed.launch("99.1", ["true"]);
		expect(await bed.end("99.1")).toEqual(exited(0));
	});

	test("is told apart from one that exits with the same code", async () => {
		const bed = await makeLaunched();
		for (const code of [1, 2, 125, 126, 127]) {
			await bed.launch(`${code}.1`, ["/bin/sh", "-c", `exit ${code}`]);
			expect(await bed.end(`${code}.1`)).toEqual(exited(code));
		}
	});

	test("values that cannot be passed on are refused before the start", async () => {
		const bed = await makeLaunched();
		const refused = (argv: string[], more = {}) => expect(bed.launch("1.1", argv, more)).rejects.toMatchObject({ code: "invalid" });
		await refused([]);
		await refused([""]);
		await refused(["a\0b"]);
		await refused(["true", "x".repeat(131_072)]);
		await refused(["true"], { env: { "A=B": "" } });
		await refused(["true"], { env: { A: "\0" } });
		await refused(["true"], { env: { SLUICE_MARK: "other" } });
		await refused(["true"], { mark: "two words" });
		await refused(["true"], { cwd: "relative" });
		expect(bed.look("1.1")).toEqual({ state: "unstarted" });
	});
});

describe("an attempt starts once", () => {
	test("the same folder launched many times", async () => {
		const bed = await makeLaunched();
		const proof = join(bed.home, "proof");
		await Promise.all(Array.from({ length: 30 }, () => bed.launch("1.1", ["sh", "-c", `echo x >>'${proof}'`])));
		expect(await bed.end("1.1")).toEqual(exited(0));
		// Shims whose launch was refused are free again: this many further runs pass.
		for (let i = 0; i < 20; i++) await bed.launch(`2.${i}`, ["true"]);
		for (let i = 0; i < 20; i++) expect(await bed.end(`2.${i}`)).toEqual(exited(0));
		expect(readFileSync(proof, "utf8")).toBe("x\n");
	});

	test("an attempt that was forbidden never starts", async () => {
		const bed = await makeLaunched();
		mkdirSync(bed.dirOf("1.1"));
		expect(bed.processes.forbid("1.1", bed.dirOf("1.1"))).toBe(true);
		expect(bed.processes.forbid("1.1", bed.dirOf("1.1"))).toBe(false);
		await bed.launch("1.1", ["sh", "-c", "echo ran"]);
		await bed.launch("1.2", ["true"]);
		await bed.end("1.2");
		expect(bed.look("1.1")).toEqual({ state: "gone", reboot: false });
		expect(bed.processes.signal("1.1", bed.dirOf("1.1"), "SIGTERM")).toBe(false);
		expect(bed.read("1.1", "stdout.log")).toBe("");
		expect(bed.processes.forbid("1.2", bed.dirOf("1.2"))).toBe(false);
		expect(() => bed.processes.forbid("1.3", bed.dirOf("1.3"))).toThrow("ENOENT");
	});
});

describe("odd places", () => {
	test("a home with spaces, quotes, a newline and 200 characters", async () => {
		const home = join(makeFolder(), `it's "a" $HOME \`id\`\n${"ä long name ".repeat(14)}`);
		mkdirSync(home);
		const bed = await makeLaunched({ home });
		await bed.launch("1.1", ["sh", "-c", "pwd; exit 4"]);
		expect(await bed.end("1.1")).toEqual(exited(4));
		expect(bed.read("1.1", "stdout.log")).toBe(`${home}\n`);
		await until(() => bed.exits.length === 1);
	});

	test("a FIFO that is removed, or is a plain file", async () => {
		const home = makeFolder();
		writeFileSync(join(home, "exits"), "not a fifo");
		const bed = await makeLaunched({ home });
		expect(lstatSync(join(home, "exits")).isFIFO()).toBe(true);
		expect(statSync(join(home, "exits")).mode & 0o777).toBe(0o600);
		rmSync(join(home, "exits"));
		for (let i = 0; i < 40; i++) await bed.launch(`${i}.1`, ["sh", "-c", `exit ${i}`]);
		for (let i = 0; i < 40; i++) expect(await bed.end(`${i}.1`)).toEqual(exited(i));
		expect(bed.exits).toEqual([]);
		expect(readdirSync(home)).not.toContain("exits");
	});

	test("after close, launches are refused", async () => {
		const bed = await makeLaunched();
		await bed.processes.close();
		await expect(bed.launch("1.1", ["true"])).rejects.toMatchObject({ code: "closed" });
	});
});
