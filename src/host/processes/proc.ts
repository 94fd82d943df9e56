// The process table as Linux shows it under /proc: who lives, since when, and whose mark they carry.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { quietly, readSmall } from "./reading.ts";

export type ProcessTable = {
	self: "proc" | "ps";
	/** Names this boot of the machine. */
	boot: string;
	/** When the process began, in words that only compare; null when there is none, or only a zombie. */
	startOf(pid: number): string | null;
	/** The same as epoch milliseconds, as exactly as the system tells. */
	beganAt(pid: number): number | null;
	/** Those of our user that carry a wanted mark in their environment, by mark. Never ourselves. */
	carriers(wanted: (mark: string) => boolean): Map<string, number[]>;
	carries(pid: number, mark: string): boolean;
	/** Whether it leads its process group, so that a signal to the group is for it and its own alone. */
	leads(pid: number): boolean;
	/** The one child that a shim has at a time, and when it began. Null when there is none, or nobody can tell. */
	childOf(shim: number): { pid: number; start: string } | null;
	/** Whether a child is still a copy of its parent: it has no program of its own yet. */
	isCopy(child: number, parent: number): boolean;
	/** Its children, theirs and so on, as far as they are in its session. Costs as much as there are of them, however many processes live. */
	below(pid: number): number[];
	/** Those below it, in whatever session, that have thrown the mark away: once their parent is gone nobody can tell whose they were. */
	unmarked(pid: number, mark: string): { pid: number; start: string }[];
};

const ME = process.getuid?.() ?? -1;
const NAME = "SLUICE_MARK=";
/** In a second; what Linux shows under /proc is always in these. */
const TICKS = 100;

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
			return start === undefined ? null : Date.now() - Math.round(uptime * 1000 - (Number(start) * 1000) / TICKS);
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
	};
}

/** Null when there is no such process, or only a zombie. */
function statOf(pid: number): { group: number; session: number; start: string } | null {
	const stat = readSmall(`/proc/${pid}/stat`)?.toString("latin1");
	if (!stat) return null;
	// The name in parentheses may hold spaces and parentheses of its own; field 3 comes after the last one.
	const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 20);
	const [state, , group, session] = fields;
	const start = fields[19];
	return state === "Z" || state === "X" || state === "x" || start === undefined
		? null
		: { group: Number(group), session: Number(session), start };
}

/** Each thread has those that it started. */
function childrenOf(pid: number): number[] {
	const threads = quietly(() => readdirSync(`/proc/${pid}/task`)) ?? [];
	return threads.flatMap((thread) => childrenOfThread(pid, thread));
}

const childrenOfThread = (pid: number, thread: number | string): number[] =>
	readSmall(`/proc/${pid}/task/${thread}/children`)?.toString("latin1").match(/\d+/g)?.map(Number) ?? [];

const lineOf = (pid: number): string | undefined => readSmall(`/proc/${pid}/cmdline`)?.toString("latin1");

/** The mark in a process's environment, if the process is ours to signal. */
function markOf(pid: number): string | null {
	// A zombie's environment is empty; that of other people cannot be read, or is none of our business.
	const environ = readSmall(`/proc/${pid}/environ`);
	if (!environ) return null;
	let at = environ.indexOf(NAME);
	while (at > 0 && environ[at - 1] !== 0) at = environ.indexOf(NAME, at + 1);
	const end = at < 0 ? -1 : environ.indexOf(0, at);
	if (end < 0) return null;
	const mark = environ.toString("latin1", at + NAME.length, end);
	return quietly(() => statSync(`/proc/${pid}`).uid) === ME ? mark : null;
}
