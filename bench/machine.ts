// What processes take of this machine, as /proc tells it: processor time of a whole tree, memory of single ones. Linux only; elsewhere the rows say so.

import { readdirSync, readFileSync } from "node:fs";

/** Of one tick of a stat; 100 a second wherever Linux runs today. */
const TICK_MS = 10;

type Stat = { pid: number; parent: number; ticks: number };

function statOf(pid: number | "self"): Stat | null {
	try {
		const text = readFileSync(`/proc/${pid}/stat`, "latin1");
		const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
		// 14 to 17 of proc(5): of its own, user and system, then of its children that have ended.
		const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
		return { pid: Number.parseInt(text, 10), parent: Number(fields[1]), ticks };
	} catch {
		return null;
	}
}

/** Processes below this one, however deep, that still belong to it. */
export function descendants(pid: number): number[] {
	const all = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (statOf(Number(name)) ?? []) : []));
	const found: number[] = [];
	for (let level = [pid]; level.length > 0; ) {
		level = all.filter(({ parent }) => level.includes(parent)).map((stat) => stat.pid);
		found.push(...level);
	}
	return found;
}

/** Milliseconds of processor that it, those below it and those of them that have ended have used so far. */
export const treeCpuMs = (pid: number): number =>
	[pid, ...descendants(pid)].reduce((sum, one) => sum + (statOf(one)?.ticks ?? 0), 0) * TICK_MS;

/** The same of this process and those of its children that have ended. */
export const ownCpuMs = (): number => (statOf("self")?.ticks ?? 0) * TICK_MS;

function kilobytes(path: string, name: string): number {
	try {
		return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync(path, "latin1"))?.[1] ?? 0);
	} catch {
		return 0;
	}
}

export const rssMb = (pid: number): number => kilobytes(`/proc/${pid}/status`, "VmRSS") / 1024;

/** Its share of what it has in memory: pages that several have count in parts. */
export const pssMb = (pid: number): number => kilobytes(`/proc/${pid}/smaps_rollup`, "Pss") / 1024;

/** The parent of a process; 0 if it is not known. */
export const parentOf = (pid: number): number => statOf(pid)?.parent ?? 0;
