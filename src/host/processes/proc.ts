// The process table as Linux shows it under /proc: which processes live, since when, and which marks they carry.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import type { Ancestor, CallerProcess } from "../../contracts/processes.ts";
import { quietly, readSmall } from "./reading.ts";

export type ProcessTable = {
	self: "proc" | "ps";
	/** Identifies this boot of the machine. */
	boot: string;
	/** When the process started, as an opaque text for comparison; null when there is no such process, or only a zombie. */
	startOf(pid: number): string | null;
	/** The same time in epoch milliseconds, as exactly as the system knows it. */
	beganAt(pid: number): number | null;
	/** This user's processes whose environment has a wanted mark, grouped by mark. Never this process itself. */
	carriers(wanted: (mark: string) => boolean): Map<string, number[]>;
	carries(pid: number, mark: string): boolean;
	/** Whether the process leads its process group, so that a signal to the group reaches only it and its descendants. */
	leads(pid: number): boolean;
	/** The child of a shim, which has at most one at a time, and its start time. Null when there is none, or when the system does not say. */
	childOf(shim: number): { pid: number; start: string } | null;
	/** Whether a child is still a copy of its parent, that is, has not called exec yet. */
	isCopy(child: number, parent: number): boolean;
	/** Its descendants, as far as they are in its session. The cost depends on the number of descendants, not on all processes of the machine. */
	below(pid: number): number[];
	/** Its descendants in any session that have dropped the mark: once their parent is gone, nothing would show which run they belonged to. */
	unmarked(pid: number, mark: string): { pid: number; start: string }[];
	lineage(caller: CallerProcess): Promise<Ancestor[]>;
};

const ME = process.getuid?.() ?? -1;
const NAME = "SLUICE_MARK=";
/** Clock ticks per second: Linux always uses 100 under /proc. */
const TICKS_PER_SECOND = 100;
/** Maximum number of a caller's ancestors that are read: more than a program can easily put between itself and its run. */
export const HIGHEST = 1024;

export const hasProc = () => existsSync("/proc/self/stat");

export function procTable(): ProcessTable {
	const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
	return {
		self: "proc",
		boot,
		startOf: (pid) => statOf(pid)?.start ?? null,
		beganAt(pid) {
			const start = statOf(pid)?.start;
			const uptime = Number(readSmall("/proc/uptime")?.toString("latin1").split(" ", 1)[0]);
			return start === undefined ? null : Date.now() - Math.round(uptime * 1000 - (Number(start) * 1000) / TICKS_PER_SECOND);
		},
		carriers(wanted) {
			const found = new Map<string, number[]>();
			for (const name of readdirSync("/proc")) {
				const pid = Number(name);
				if (!(pid > 0) || pid === process.pid) continue;
				const mark = markOf(pid);
				if (mark === null || !wanted(mark)) continue;
				const pids = found.get(mark);
				if (pids) pids.push(pid);
				else found.set(mark, [pid]);
			}
			return found;
		},
		carries: (pid, mark) => pid !== process.pid && markOf(pid) === mark,
		leads: (pid) => statOf(pid)?.group === pid,
		childOf(shim) {
			for (const pid of childrenOfThread(shim, shim)) {
				const start = statOf(pid)?.start;
				if (start !== undefined) return { pid, start };
			}
			return null;
		},
		isCopy: (child, parent) => lineOf(child) === lineOf(parent),
		below(pid) {
			const session = statOf(pid)?.session;
			const found = new Set([pid]);
			for (const one of found) for (const child of childrenOf(one)) if (statOf(child)?.session === session) found.add(child);
			found.delete(pid);
			return [...found];
		},
		unmarked(pid, mark) {
			const found = new Set([pid]);
			for (const one of found) for (const child of childrenOf(one)) found.add(child);
			found.delete(pid);
			return [...found].flatMap((one) => {
				const start = markOf(one) === mark ? undefined : statOf(one)?.start;
				return start === undefined || quietly(() => statSync(`/proc/${one}`).uid) !== ME ? [] : [{ pid: one, start }];
			});
		},
		async lineage({ pid, start }) {
			const found: Ancestor[] = [];
			for (let stat = statOf(pid), at = pid; stat !== null && found.length < HIGHEST; stat = statOf(at)) {
				if (at === process.pid || (at === pid && stat.start !== start)) break;
				found.push({ pid: at, mark: markOf(at) });
				at = stat.parent;
			}
			return found;
		},
	};
}

/** Null when there is no such process, or only a zombie. */
function statOf(pid: number): { parent: number; group: number; session: number; start: string } | null {
	const stat = readSmall(`/proc/${pid}/stat`)?.toString("latin1");
	if (!stat) return null;
	// The name in parentheses may itself contain spaces and parentheses; field 3 comes after the last one.
	const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 20);
	const [state, parent, group, session] = fields;
	const start = fields[19];
	return state === "Z" || state === "X" || state === "x" || start === undefined
		? null
		: { parent: Number(parent), group: Number(group), session: Number(session), start };
}

/** All children of a process. The kernel lists them by the thread that started them. */
function childrenOf(pid: number): number[] {
	const threads = quietly(() => readdirSync(`/proc/${pid}/task`)) ?? [];
	return threads.flatMap((thread) => childrenOfThread(pid, thread));
}

const childrenOfThread = (pid: number, thread: number | string): number[] =>
	readSmall(`/proc/${pid}/task/${thread}/children`)?.toString("latin1").match(/\d+/g)?.map(Number) ?? [];

const lineOf = (pid: number): string | undefined => readSmall(`/proc/${pid}/cmdline`)?.toString("latin1");

/** The mark in a process's environment, if the process belongs to this user. */
function markOf(pid: number): string | null {
	// A zombie's environment is empty; the environment of another user's process usually cannot be read.
	const environ = readSmall(`/proc/${pid}/environ`);
	if (!environ) return null;
	let at = environ.indexOf(NAME);
	while (at > 0 && environ[at - 1] !== 0) at = environ.indexOf(NAME, at + 1);
	const end = at < 0 ? -1 : environ.indexOf(0, at);
	if (end < 0) return null;
	const mark = environ.toString("latin1", at + NAME.length, end);
	return quietly(() => statSync(`/proc/${pid}`).uid) === ME ? mark : null;
}
