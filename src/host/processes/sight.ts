// What a run's folder and the process table say about a run, and signals to those of its processes that are surely its own.

import { statSync, writeFileSync } from "node:fs";
import type { Sighting } from "../../processes.ts";
import type { ProcessTable } from "./proc.ts";
import { quietly, readSmall } from "./reading.ts";

/** `start`: its start time; or `~` and a time at which it was there, in the same units: whoever has the pid since before then is it. */
export type Being = { pid: number; start: string };
/** `program`: of an earlier version, which wrote it down; now it has the mark instead. */
type Start = { shim: Being; boot: string; program: Being | null; mark: string | null };

/** A marker that was made but not written (a full disk, a crash) counts as unstarted for so long; then nobody is going to write it any more. */
const MARKER_GRACE_MS = 10_000;
/** Milliseconds. */
const PATIENCE = 50;

/** Numbers are those of Linux and macOS alike. 128 + another number is an exit code like any other. */
const USUAL: Record<number, string> = {
	1: "SIGHUP",
	2: "SIGINT",
	3: "SIGQUIT",
	4: "SIGILL",
	5: "SIGTRAP",
	6: "SIGABRT",
	8: "SIGFPE",
	9: "SIGKILL",
	11: "SIGSEGV",
	13: "SIGPIPE",
	14: "SIGALRM",
	15: "SIGTERM",
	24: "SIGXCPU",
	25: "SIGXFSZ",
	...(process.platform === "linux"
		? { 7: "SIGBUS", 10: "SIGUSR1", 12: "SIGUSR2", 31: "SIGSYS" }
		: { 10: "SIGBUS", 12: "SIGSYS", 30: "SIGUSR1", 31: "SIGUSR2" }),
};

export function sight(dir: string, table: ProcessTable): Sighting {
	const ended = readExit(dir);
	if (ended) return ended;
	const start = readStart(dir);
	if (start === "none" || start === "fresh") return { state: "unstarted" };
	if (start === "stale") return { state: "gone", reboot: false };
	if (start.boot !== table.boot) return readExit(dir) ?? { state: "gone", reboot: true };
	const being = beingOf(start, table);
	if (being) return readExit(dir) ?? { state: "alive", pid: being.pid, started: `${being.start}@${start.boot}` };
	// It may have ended since we looked first.
	return readExit(dir) ?? { state: "gone", reboot: false };
}

/** Who stands for the run: its program; before and after the program, until the line in `exit`, its shim; when the shim was killed, whoever is left. */
function beingOf({ shim, program, mark }: Start, table: ProcessTable): Being | null {
	const told = program && startIf(program, table);
	if (program && told) return { pid: program.pid, start: told };
	const start = startIf(shim, table);
	if (start === null) return mark === null ? null : oldestOf(mark, table);
	return (mark === null ? null : table.childOf(shim.pid)) ?? { pid: shim.pid, start };
}

/** The first of those that carry the mark: the program itself, as long as it lives. */
function oldestOf(mark: string, table: ProcessTable): Being | null {
	const found = (table.carriers((one) => one === mark).get(mark) ?? []).flatMap((pid) => {
		const start = table.startOf(pid);
		return start === null ? [] : [{ pid, start }];
	});
	return found.sort((a, b) => Number(a.start) - Number(b.start) || a.pid - b.pid)[0] ?? null;
}

/** Makes the marker in nobody's name: seen as gone from then on. */
export function forbidRun(dir: string, table: ProcessTable): boolean {
	try {
		writeFileSync(`${dir}/start`, `1 0 forbidden ${table.boot}\n`, { flag: "wx", mode: 0o600 });
		return true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
		throw error;
	}
}

/** Nobody could be found to start it. Nothing happens when somebody has. */
export function recordFailure(dir: string, table: ProcessTable, why: string): void {
	if (forbidRun(dir, table)) writeFileSync(`${dir}/exit`, `1 launch 126 ${why}\n`, { mode: 0o600 });
}

/** Processes of a live run that do not carry its mark. */
export function unmarkedOf(dir: string, table: ProcessTable): { mark: string; beings: Being[] } | null {
	const start = readExit(dir) ? "none" : readStart(dir);
	if (typeof start === "string" || start.boot !== table.boot || start.mark === null) return null;
	const being = beingOf(start, table);
	return being && { mark: start.mark, beings: table.unmarked(being.pid, start.mark) };
}

/** True when somebody was there, even if the signal was refused. */
export function signalRun(dir: string, table: ProcessTable, signal: NodeJS.Signals): boolean {
	// Between the shim's marker and the exec there are some microseconds: waited for, since a lost SIGINT costs a whole grace.
	for (let tries = 0; ; tries++) {
		if (readExit(dir)) return false;
		const start = readStart(dir);
		if (typeof start === "string" || start.boot !== table.boot) return false;
		const { shim, program, mark } = start;
		if (program) return signalProgram(program, table, signal);
		if (!startIf(shim, table)) {
			const left = mark === null ? null : oldestOf(mark, table);
			return left !== null && signalProgram(left, table, signal);
		}
		const child = mark === null ? null : table.childOf(shim.pid);
		if ((child && !table.isCopy(child.pid, shim.pid)) || tries === PATIENCE) return signalChild(dir, child, mark, table, signal);
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
	}
}

/** Its shim lives. Where children cannot be seen, the mark tells; where there is nobody yet, a later signal will find somebody. */
function signalChild(dir: string, child: Being | null, mark: string | null, table: ProcessTable, signal: NodeJS.Signals): boolean {
	const program = child ?? (mark === null ? null : oldestOf(mark, table));
	// It was the shim's child after we had looked for an exit: if there is one now, the shim may have gone on.
	if (readExit(dir)) return false;
	return program === null || signalProgram(program, table, signal);
}

/** False when the process is gone. */
export function signalOne(pid: number, signal: NodeJS.Signals): boolean {
	try {
		process.kill(pid, signal);
		return true;
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "ESRCH") return false;
		if (code === "EPERM") return true;
		throw error;
	}
}

/**
 * The program, and what is below it in its session; never the shim, nor what an earlier run of the same shim has left there. A program that leads a
 * group (it made one, or an earlier version of ours did) gets it as a group. What has lost its parent or left the session is found by its mark, later.
 */
function signalProgram(program: Being, table: ProcessTable, signal: NodeJS.Signals): boolean {
	if (program.pid <= 1 || !startIf(program, table)) return false;
	const below = table.below(program.pid);
	const there = (table.leads(program.pid) && signalOne(-program.pid, signal)) || signalOne(program.pid, signal);
	for (const pid of below) signalOne(pid, signal);
	return there;
}

/** Its start time, if it is still the one that was meant. */
export function startIf({ pid, start }: Being, table: ProcessTable): string | null {
	const now = table.startOf(pid);
	if (now === null) return null;
	return (start.startsWith("~") ? Number(now) <= Number(start.slice(1)) : now === start) ? now : null;
}

function readExit(dir: string): Sighting | null {
	const text = readSmall(`${dir}/exit`)?.toString();
	// Without its newline the line is incomplete and counts as absent.
	const [, failed, digits, why] = /^1 (?:(launch|program|folder) )?(\d{1,3})(?: ([\s\S]*))?\n$/.exec(text ?? "") ?? [];
	if (digits === undefined) return null;
	const code = Number(digits);
	if (failed === undefined) return { state: "exited", code, signal: USUAL[code - 128] ?? null, launch_failed: null };
	const missing = failed === "program" || failed === "folder" ? { missing: failed as "program" | "folder" } : {};
	return { state: "exited", code, signal: null, launch_failed: why ?? "unknown", ...missing };
}

function readStart(dir: string): Start | "none" | "fresh" | "stale" {
	const text = readSmall(`${dir}/start`)?.toString();
	if (text === undefined) return "none";
	const [, shimPid, shimStart, boot, pid, start, mark] = /^1 (\d+) (\S+) (\S+)\n(?:(?:(\d+) (\S+)|mark (\S+))\n)?/.exec(text) ?? [];
	if (!shimStart || !boot) {
		// In whole milliseconds, as the clock is: a file of this very millisecond would else be from the future.
		const age = Date.now() - Math.floor(quietly(() => statSync(`${dir}/start`).mtimeMs) ?? 0);
		return age >= 0 && age < MARKER_GRACE_MS ? "fresh" : "stale";
	}
	return {
		shim: { pid: Number(shimPid), start: shimStart },
		boot,
		program: start ? { pid: Number(pid), start } : null,
		mark: mark ?? null,
	};
}
