// What a run's folder and the process table say about a run; and signals, which go only to processes that certainly belong to the run.

import { statSync, writeFileSync } from "node:fs";
import type { Sighting } from "../../core/runs/sighting.ts";
import type { ProcessTable } from "./proc.ts";
import { quietly, readSmall } from "./reading.ts";

/**
 * `start` is the process's start time, or `~` and a time at which it was seen, in the same units: then a process with this pid that started earlier is the
 * same one.
 */
export type Being = { pid: number; start: string };
/** `program`: written by earlier versions; null since the mark identifies the program. */
type Start = { shim: Being; boot: string; program: Being | null; mark: string | null };

/** An empty marker (full disk, crash) counts as unstarted for this long. After that no shim will fill it in any more, and the run counts as gone. */
const MARKER_GRACE_MS = 10_000;
/** How long `signalRun` waits for the program to start, in tries of 1 ms. */
const START_TRIES = 50;

/** Signals whose numbers are usual in exit codes. Any other 128 + n is taken for an ordinary exit code. */
const SIGNAL_NAMES: Record<number, string> = {
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
	const ended = endOf(dir, table);
	if (ended) return ended;
	const start = readStart(dir);
	if (start === "none" || start === "fresh") return { state: "unstarted" };
	const seen = seenOf(start, table);
	// The program may have ended since the first read of `exit`.
	return endOf(dir, table) ?? seen;
}

function seenOf(start: Start | "stale", table: ProcessTable): Sighting {
	if (start === "stale") return { state: "gone", reboot: false };
	if (start.boot !== table.boot) return { state: "gone", reboot: true };
	const being = beingOf(start, table);
	return being ? { state: "alive", pid: being.pid, started: `${being.start}@${start.boot}` } : { state: "gone", reboot: false };
}

/**
 * The process that represents the run: its program; before the program starts and after it ends, its shim; when the shim was killed, the oldest process with
 * the mark.
 */
function beingOf({ shim, program, mark }: Start, table: ProcessTable): Being | null {
	const programStart = program && startIf(program, table);
	if (program && programStart) return { pid: program.pid, start: programStart };
	const start = startIf(shim, table);
	if (start === null) return mark === null ? null : oldestOf(mark, table);
	return (mark === null ? null : table.childOf(shim.pid)) ?? { pid: shim.pid, start };
}

/** The oldest process that carries the mark: the program itself, as long as it lives. */
function oldestOf(mark: string, table: ProcessTable): Being | null {
	const found = (table.carriers((one) => one === mark).get(mark) ?? []).flatMap((pid) => {
		const start = table.startOf(pid);
		return start === null ? [] : [{ pid, start }];
	});
	return found.sort((a, b) => Number(a.start) - Number(b.start) || a.pid - b.pid)[0] ?? null;
}

/**
 * Creates the marker without a live process behind it, so that no shim can start the run; it is seen as gone from then on. False if the run has started
 * already.
 */
export function forbidRun(dir: string, table: ProcessTable): boolean {
	try {
		writeFileSync(`${dir}/start`, `1 0 forbidden ${table.boot}\n`, { flag: "wx", mode: 0o600 });
		return true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
		throw error;
	}
}

/** Records that no shim could be found to start the run. Does nothing when a shim has started it. */
export function recordFailure(dir: string, table: ProcessTable, why: string): void {
	if (forbidRun(dir, table)) writeFileSync(`${dir}/exit`, `1 launch 126 ${why}\n`, { mode: 0o600 });
}

/** Processes below a live run's program that do not carry its mark. */
export function unmarkedOf(dir: string, table: ProcessTable): { mark: string; beings: Being[] } | null {
	const start = endOf(dir, table) ? "none" : readStart(dir);
	if (typeof start === "string" || start.boot !== table.boot || start.mark === null) return null;
	const being = beingOf(start, table);
	return being && { mark: start.mark, beings: table.unmarked(being.pid, start.mark) };
}

/** Returns true when a process was there, even if the system refused the signal. */
export function signalRun(dir: string, table: ProcessTable, signal: NodeJS.Signals): boolean {
	// The exec follows the shim's marker by some microseconds. Wait for it: a SIGINT that gets lost would cost the whole grace period.
	for (let tries = 0; ; tries++) {
		if (endOf(dir, table)) return false;
		const start = readStart(dir);
		if (typeof start === "string" || start.boot !== table.boot) return false;
		const { shim, program, mark } = start;
		if (program) return signalProgram(program, table, signal);
		if (!startIf(shim, table)) {
			const left = mark === null ? null : oldestOf(mark, table);
			return left !== null && signalProgram(left, table, signal);
		}
		const child = mark === null ? null : table.childOf(shim.pid);
		if ((child && !table.isCopy(child.pid, shim.pid)) || tries === START_TRIES) return signalChild(dir, child, mark, table, signal);
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
	}
}

/**
 * Signals the program of a live shim. Where children cannot be listed, the mark identifies the program; if there is no program yet, the caller's next signal
 * will find it.
 */
function signalChild(dir: string, child: Being | null, mark: string | null, table: ProcessTable, signal: NodeJS.Signals): boolean {
	const program = child ?? (mark === null ? null : oldestOf(mark, table));
	// The child was found after the first read of `exit`. If `exit` exists now, the shim may have taken its next run, so this child may belong to that run.
	if (endOf(dir, table)) return false;
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
 * Signals the program and its descendants in its session, but never the shim, nor processes that an earlier run of the same shim left there. If the program
 * leads a process group (its own, or one made by an earlier version), the whole group is signalled. Processes that lost their parent or left the session are
 * found by their mark later.
 */
function signalProgram(program: Being, table: ProcessTable, signal: NodeJS.Signals): boolean {
	if (program.pid <= 1 || !startIf(program, table)) return false;
	const below = table.below(program.pid);
	const there = (table.leads(program.pid) && signalOne(-program.pid, signal)) || signalOne(program.pid, signal);
	for (const pid of below) signalOne(pid, signal);
	return there;
}

/** The start time of the process, if the pid still belongs to the process that was meant. */
export function startIf({ pid, start }: Being, table: ProcessTable): string | null {
	const now = table.startOf(pid);
	if (now === null) return null;
	return (start.startsWith("~") ? Number(now) <= Number(start.slice(1)) : now === start) ? now : null;
}

/**
 * The line in `exit`, which the shim writes when the program is gone. While the shim has a child with the run's mark, the run wrote the line itself: the line does
 * not count, and the shim will overwrite it. Only checked where children can be read from /proc; elsewhere each check would start ps(1).
 */
function endOf(dir: string, table: ProcessTable): Sighting | null {
	const ended = readExit(dir);
	if (ended === null || table.self !== "proc") return ended;
	const start = readStart(dir);
	if (typeof start === "string" || start.boot !== table.boot || start.mark === null || !startIf(start.shim, table)) return ended;
	const child = table.childOf(start.shim.pid);
	return child !== null && table.carries(child.pid, start.mark) ? null : ended;
}

function readExit(dir: string): Sighting | null {
	const text = readSmall(`${dir}/exit`)?.toString();
	// A line without its newline is incomplete and counts as absent.
	const [, failed, digits, why] = /^1 (?:(launch|program|folder) )?(\d{1,3})(?: ([\s\S]*))?\n$/.exec(text ?? "") ?? [];
	if (digits === undefined) return null;
	const code = Number(digits);
	if (failed === undefined) return { state: "exited", code, signal: SIGNAL_NAMES[code - 128] ?? null, launch_failed: null };
	const missing = failed === "program" || failed === "folder" ? { missing: failed as "program" | "folder" } : {};
	return { state: "exited", code, signal: null, launch_failed: why ?? "unknown", ...missing };
}

function readStart(dir: string): Start | "none" | "fresh" | "stale" {
	const text = readSmall(`${dir}/start`)?.toString();
	if (text === undefined) return "none";
	const [, shimPid, shimStart, boot, pid, start, mark] = /^1 (\d+) (\S+) (\S+)\n(?:(?:(\d+) (\S+)|mark (\S+))\n)?/.exec(text) ?? [];
	if (!shimStart || !boot) {
		// Round down to whole milliseconds like the clock; otherwise a file made in this very millisecond would seem to be from the future.
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
