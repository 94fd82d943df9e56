// What is seen of a run, and which processes are signalled: forged markers, unrelated processes, zombies, half-written lines.

import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeLaunched } from "../../../test/make/daemons/launched.ts";
import { until } from "../../../test/make/until.ts";
import { procTable } from "./proc.ts";
import { signalRun } from "./sight.ts";

const BOOT = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
const startOf = procTable().startOf;

/** A process that belongs to no run. */
function stranger(argv = ["sleep", "1000"], stdio: StdioOptions = "ignore"): ChildProcess & { pid: number } {
	const child = spawn(argv[0]!, argv.slice(1), { stdio, detached: true });
	onTestFinished(() => {
		if (child.pid && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, "SIGKILL");
	});
	return child as ChildProcess & { pid: number };
}

async function forge(start: string, exit?: string) {
	const bed = await makeLaunched();
	mkdirSync(bed.dirOf("1.1"));
	writeFileSync(join(bed.dirOf("1.1"), "start"), start);
	if (exit !== undefined) writeFileSync(join(bed.dirOf("1.1"), "exit"), exit);
	const signal = (name: NodeJS.Signals) => bed.processes.signal("1.1", bed.dirOf("1.1"), name);
	return { ...bed, signal, seen: () => bed.look("1.1") };
}

const GONE = { state: "gone", reboot: false };

describe("a marker", () => {
	test("with the pid of an unrelated live process is seen as gone", async () => {
		const other = stranger();
		const bed = await forge(`1 ${other.pid} 17 ${BOOT}\n${other.pid} 17\n`);
		expect(bed.seen()).toEqual(GONE);
		expect(bed.signal("SIGKILL")).toBe(false);
		expect(startOf(other.pid)).not.toBeNull();
	});

	test("with pid and start time of another boot is seen as gone", async () => {
		const other = stranger();
		const start = startOf(other.pid);
		const bed = await forge(`1 ${other.pid} ${start} 0000-another-boot\n${other.pid} ${start}\n`);
		expect(bed.seen()).toEqual({ state: "gone", reboot: true });
		expect(bed.signal("SIGKILL")).toBe(false);
		expect(startOf(other.pid)).toBe(start);
	});

	test("with the right start time is seen as alive until the process ends", async () => {
		const other = stranger();
		const start = startOf(other.pid);
		const bed = await forge(`1 1 1 ${BOOT}\n${other.pid} ${start}\n`);
		expect(bed.seen()).toEqual({ state: "alive", pid: other.pid, started: `${start}@${BOOT}` });
		expect(bed.signal("SIGKILL")).toBe(true);
		await until(() => bed.seen().state === "gone");
		expect(bed.signal("SIGKILL")).toBe(false);
	});

	test("leads from the shim to its program", async () => {
		const bed = await makeLaunched();
		await bed.launch("1.1", ["sleep", "1000"]);
		await until(() => bed.processes.sweep([bed.markOf("1.1")]).size === 1);
		const [pid] = bed.processes.sweep([bed.markOf("1.1")]).get(bed.markOf("1.1")) ?? [];
		expect(bed.look("1.1")).toEqual({ state: "alive", pid, started: `${startOf(pid as number)}@${BOOT}` });
		expect(bed.read("1.1", "start")).toMatch(new RegExp(`^1 \\d+ \\d+ ${BOOT}\nmark ${bed.markOf("1.1")}\n$`));
	});

	test("with an exit that the program wrote by itself: it lives, can be signalled, and ends as its shim says", async () => {
		const bed = await makeLaunched();
		await bed.launch("1.1", ["sh", "-c", `printf '1 0\\n' >'${bed.dirOf("1.1")}/exit'; sleep 1000; :`]);
		await until(() => existsSync(join(bed.dirOf("1.1"), "exit")) && bed.read("1.1", "exit") === "1 0\n");
		expect(bed.look("1.1")).toMatchObject({ state: "alive" });
		expect(bed.processes.signal("1.1", bed.dirOf("1.1"), "SIGKILL")).toBe(true);
		// Until the shim has written over it, the line of the run counts.
		await until(() => {
			const seen = bed.look("1.1");
			return seen.state === "exited" && seen.signal === "SIGKILL";
		});
	});

	test("leads to its program by the mark, where children cannot be listed", async () => {
		const bed = await makeLaunched();
		await bed.launch("1.1", ["sleep", "1000"]);
		await until(() => bed.processes.sweep([bed.markOf("1.1")]).size === 1);
		expect(signalRun(bed.dirOf("1.1"), { ...procTable(), childOf: () => null }, "SIGKILL")).toBe(true);
		expect(await bed.end("1.1")).toMatchObject({ state: "exited", signal: "SIGKILL" });
	});

	test("of a shim that has no program yet counts as alive, and no process is signalled", async () => {
		const other = stranger();
		const start = startOf(other.pid);
		const bed = await forge(`1 ${other.pid} ${start} ${BOOT}\nmark nobody-1.1\n`);
		expect(bed.seen()).toMatchObject({ state: "alive", pid: other.pid });
		expect(bed.signal("SIGKILL")).toBe(true);
		expect(startOf(other.pid)).toBe(start);
	});

	test("with the time at which its program was seen means a process that started before that time", async () => {
		const other = stranger();
		const start = startOf(other.pid);
		const bed = await forge(`1 1 1 ${BOOT}\n${other.pid} ~${start}\n`);
		expect(bed.seen()).toEqual({ state: "alive", pid: other.pid, started: `${start}@${BOOT}` });
		writeFileSync(join(bed.dirOf("1.1"), "start"), `1 1 1 ${BOOT}\n${other.pid} ~${Number(start) - 1}\n`);
		expect(bed.seen()).toEqual(GONE);
		expect(bed.signal("SIGKILL")).toBe(false);
		expect(startOf(other.pid)).toBe(start);
	});

	test("of a version before this one, whose program leads a session: all of its group is signalled", async () => {
		const other = stranger(["sh", "-c", "sleep 1000 & echo $! >&3; wait"], ["ignore", "ignore", "ignore", "pipe"]);
		const child = await new Promise<number>((resolve) => other.stdio[3]?.once("data", (text) => resolve(Number(text))));
		const bed = await forge(`1 1 1 ${BOOT}\n${other.pid} ${startOf(other.pid)}\n`);
		expect(bed.signal("SIGKILL")).toBe(true);
		await until(() => startOf(child) === null);
	});

	test("never written is unstarted for a while, then gone", async () => {
		const bed = await forge("");
		expect(bed.seen()).toEqual({ state: "unstarted" });
		expect(bed.signal("SIGKILL")).toBe(false);
		for (const text of ["", "1 12", `1 12 13 ${BOOT}`]) {
			writeFileSync(join(bed.dirOf("1.1"), "start"), text);
			utimesSync(join(bed.dirOf("1.1"), "start"), 1000, 1000);
			expect(bed.seen()).toEqual(GONE);
		}
	});
});

describe("a line in exit", () => {
	test("counts only when it is complete", async () => {
		for (const text of ["", "1", "1 ", "1 0", "1 launch 127 no such", "2 0\n", "1 x\n", "\n"])
			expect((await forge(`1 0 x ${BOOT}\n`, text)).seen()).toEqual(GONE);
		expect((await forge(`1 0 x ${BOOT}\n`, "1 0\n")).seen()).toMatchObject({ state: "exited", code: 0 });
		expect((await forge("", "1 launch 127 a\nb\n")).seen()).toMatchObject({ state: "exited", code: 127, launch_failed: "a\nb" });
	});

	test("stops all signals", async () => {
		const other = stranger();
		const bed = await forge(`1 1 1 ${BOOT}\n${other.pid} ${startOf(other.pid)}\n`, "1 0\n");
		expect(bed.signal("SIGKILL")).toBe(false);
		expect(startOf(other.pid)).not.toBeNull();
	});
});

test("a zombie counts as gone", async () => {
	// The child ends at once, and its parent never waits for it.
	const parent = spawn("sh", ["-c", "sh -c 'echo $$; read x' & exec sleep 1000"], { stdio: ["ignore", "pipe", "ignore"] });
	onTestFinished(() => void parent.kill("SIGKILL"));
	const pid = await new Promise<number>((resolve) => parent.stdout.once("data", (text) => resolve(Number(text))));
	const stat = () => readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]!.split(" ");
	await until(() => stat()[0] === "Z");
	const bed = await forge(`1 1 1 ${BOOT}\n${pid} ${stat()[19]}\n`);
	expect(bed.seen()).toEqual(GONE);
	expect(bed.signal("SIGKILL")).toBe(false);
	expect(existsSync(`/proc/${pid}`)).toBe(true);
});

describe("signals", () => {
	test("SIGINT reaches the program, and the shim still records its end", async () => {
		const bed = await makeLaunched();
		await bed.launch("1.1", ["sleep", "1000"]);
		await bed.launch("1.2", [
			process.execPath,
			"-e",
			`process.on("SIGINT", () => process.exit(9)); console.log("ready"); setInterval(() => {}, 1000)`,
		]);
		await until(() => bed.look("1.1").state === "alive" && bed.read("1.2", "stdout.log") === "ready\n");
		for (const run of ["1.1", "1.2"]) expect(bed.processes.signal(run, bed.dirOf(run), "SIGINT")).toBe(true);
		expect(await bed.end("1.1")).toMatchObject({ code: 130, signal: "SIGINT" });
		expect(await bed.end("1.2")).toMatchObject({ code: 9, signal: null });
	});

	test("go to all of its group, and to no other run", async () => {
		const bed = await makeLaunched();
		await bed.launch("1.1", ["sh", "-c", "sleep 1000 & sleep 1000"]);
		await bed.launch("1.2", ["sleep", "1000"]);
		await until(() => bed.processes.sweep([bed.markOf("1.1")]).get(bed.markOf("1.1"))?.length === 3);
		await until(() => bed.look("1.2").state === "alive");
		expect(bed.processes.signal("1.1", bed.dirOf("1.1"), "SIGKILL")).toBe(true);
		expect(await bed.end("1.1")).toMatchObject({ signal: "SIGKILL" });
		await until(() => bed.processes.sweep([bed.markOf("1.1")]).size === 0);
		expect(bed.look("1.2").state).toBe("alive");
	});

	test("leave the shim alone, and what an earlier run of the same shim has left in its session", async () => {
		const bed = await makeLaunched();
		const said = (run: string) => bed.read(run, "stdout.log").trim().split("\n").filter(Boolean).map(Number);
		await bed.launch("1.1", ["sh", "-c", "sleep 1000 & echo $!; env -i /bin/sh -c '/bin/sleep 1000; /bin/sleep 1000' & echo $!"]);
		await bed.end("1.1");
		const left = said("1.1");
		onTestFinished(() => {
			for (const pid of left) if (startOf(pid) !== null) process.kill(pid, "SIGKILL");
		});
		await bed.launch("1.2", [
			"sh",
			"-c",
			"sleep 1000 & echo $!; env -i /bin/sleep 1000 & echo $!; setsid sh -c 'echo 0; exec sleep 1000' & wait",
		]);
		await until(() => said("1.2").length === 3 && bed.processes.sweep([bed.markOf("1.2")]).get(bed.markOf("1.2"))?.length === 3);
		// A process that an earlier run left on purpose may start another while a later run is live: it must not be taken for the later run's.
		const stayed = () => readFileSync(`/proc/${left[1]}/task/${left[1]}/children`, "latin1").trim().split(" ").map(Number);
		const [first] = stayed() as [number];
		process.kill(first, "SIGKILL");
		// Wait until the next process is there for good: in between, the list is empty or has a shell that is about to exec.
		const isSleep = (pid: number) => pid > 0 && pid !== first && readFileSync(`/proc/${pid}/comm`, "latin1").trim() === "sleep";
		let next = 0;
		await until(() => {
			next = stayed()[0] ?? 0;
			return isSleep(next);
		});
		left.push(next);
		const shimOf = (run: string) => Number(bed.read(run, "start").split(" ")[1]);
		expect(shimOf("1.2")).toBe(shimOf("1.1"));
		expect(bed.processes.signal("1.2", bed.dirOf("1.2"), "SIGKILL")).toBe(true);
		expect(await bed.end("1.2")).toMatchObject({ signal: "SIGKILL" });
		await until(() => said("1.2").every((pid) => pid === 0 || startOf(pid) === null));
		for (const pid of [...left, shimOf("1.2")]) expect(startOf(pid)).not.toBeNull();
		// The process with a session of its own is found by its mark.
		expect(bed.processes.sweep([bed.markOf("1.2")]).get(bed.markOf("1.2"))).toHaveLength(1);
	});

	test("to its own process group that a program sends do not cost the record of its end", async () => {
		const bed = await makeLaunched();
		await bed.launch("1.1", ["sh", "-c", "trap 'exit 3' TERM; kill -TERM 0; sleep 1000"]);
		expect(await bed.end("1.1")).toMatchObject({ state: "exited", code: 3 });
	});

	test("arrive even in the moment before the exec", async () => {
		const bed = await makeLaunched();
		for (let i = 0; i < 30; i++) {
			const run = `${i}.1`;
			await bed.launch(run, ["sleep", "1000"]);
			await until(() => bed.look(run).state === "alive");
			expect(bed.processes.signal(run, bed.dirOf(run), "SIGTERM")).toBe(true);
			expect(await bed.end(run)).toMatchObject({ code: 143, signal: "SIGTERM" });
		}
	}, 300_000);
});

describe("sweep", () => {
	test("finds processes that left the session, and ignores processes that only look alike", async () => {
		const bed = await makeLaunched();
		const mark = bed.markOf("1.1");
		const decoys = [`SLUICE_MARK=${mark}1`, `SLUICE_MARK=${mark.slice(0, -1)}`, `XSLUICE_MARK=${mark}`, `OTHER=SLUICE_MARK=${mark}`].map(
			(text) => stranger(["env", "-i", text, "/bin/sleep", "1000"]),
		);
		const named = stranger(["sh", "-c", "sleep 1000; :", `SLUICE_MARK=${mark}`]);
		await bed.launch("1.1", ["sh", "-c", "setsid sleep 1000 & setsid sh -c 'sleep 1000 & sleep 1000' & exit 0"], {
			// Larger than the buffer for one read.
			env: { PATH: "/usr/bin:/bin", A: "x".repeat(50_000), Z: "y".repeat(50_000) },
		});
		await bed.end("1.1");
		const swept = () => bed.processes.sweep([mark, "nobody-1.1"]).get(mark) ?? [];
		// Four may be found while the first shell still ends and a child is not there yet: the four have to be the same twice.
		let last = "";
		await until(() => {
			const before = last;
			last = swept().join(" ");
			return last === before && swept().length === 4;
		});
		expect([...bed.processes.marked(mark.slice(0, -2)).keys()]).toContain(mark);
		const all = [...swept(), ...decoys.map(({ pid }) => pid), named.pid, process.pid, 1];
		expect(bed.processes.signalAll(mark, all, "SIGKILL")).toBe(4);
		await until(() => swept().length === 0);
		for (const { pid } of [...decoys, named]) expect(startOf(pid)).not.toBeNull();
		expect(bed.processes.sweep([mark]).size).toBe(0);
	});

	test("never finds its own process, even if that carries the mark of a run", async () => {
		const bed = await makeLaunched();
		const outfile = join(bed.home, "sweeper.mjs");
		const contents = `import { procTable } from "./proc.ts"; console.log([...procTable().carriers((mark) => mark === process.env.SLUICE_MARK).values()].flat().length)`;
		buildSync({
			stdin: { contents, resolveDir: import.meta.dirname },
			outfile,
			bundle: true,
			platform: "node",
			format: "esm",
			logLevel: "silent",
		});
		await bed.launch("1.1", [process.execPath, outfile]);
		await bed.end("1.1");
		expect(bed.read("1.1", "stdout.log")).toBe("0\n");
	});
});
