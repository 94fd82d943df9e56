// The process table through ps(1), where there is no /proc (macOS). Best effort: each query starts a process, and a mark among a program's arguments looks
// like one in its environment.

import { execFile, execFileSync } from "node:child_process";
import { HIGHEST, type ProcessTable } from "./proc.ts";

const ENV = { LC_ALL: "C", TZ: "UTC" };
const MAC = process.platform === "darwin";
/** Arguments that print processes with their environments: `E` on macOS, `e` elsewhere. */
const WITH_ENVIRONMENT = MAC ? "-Eww" : "eww";
export const ALL_WITH_ENVIRONMENT = [WITH_ENVIRONMENT, MAC ? "-ax" : "ax"];

export function psTable(ps: string): ProcessTable {
	const ask = (...args: string[]) => {
		try {
			return execFileSync(ps, args, { env: ENV, encoding: "latin1", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] });
		} catch {
			// ps exits with an error when there is no such process.
			return "";
		}
	};
	/** Asynchronous, so that the event loop is not blocked: the daemon asks this for every connection. */
	const askSoon = (...args: string[]) =>
		new Promise<string>((resolve) => {
			execFile(ps, args, { env: ENV, encoding: "latin1", maxBuffer: 1 << 28 }, (_error, stdout) => resolve(stdout));
		});
	const lineArgs = (...which: string[]) => [...which, "-o", "pid=,uid=,stat=,command="];
	const lines = (...which: string[]) => ask(...lineArgs(...which)).split("\n");
	const markIn = (line: string): { pid: number; mark: string } | null => {
		const [, pid, uid, stat, mark] = /^ *(\d+) +(\d+) +(\S+) .* SLUICE_MARK=(\S+)/.exec(line) ?? [];
		return pid && mark && Number(uid) === process.getuid?.() && !stat?.startsWith("Z") ? { pid: Number(pid), mark } : null;
	};
	return {
		self: "ps",
		boot: bootName(),
		startOf(pid) {
			const [state, ...start] = ask("-o", "stat=,lstart=", "-p", String(pid)).trim().split(/\s+/);
			return !state || state.startsWith("Z") ? null : start.join("_");
		},
		beganAt(pid) {
			const at = Date.parse(`${(this.startOf(pid) ?? "").replaceAll("_", " ")} UTC`);
			// ps shows whole seconds; the process may have started at the end of that second.
			return Number.isNaN(at) ? null : at + 999;
		},
		carriers(wanted) {
			const found = new Map<string, number[]>();
			for (const line of lines(...ALL_WITH_ENVIRONMENT)) {
				const one = markIn(line);
				if (one && one.pid !== process.pid && wanted(one.mark)) found.set(one.mark, [...(found.get(one.mark) ?? []), one.pid]);
			}
			return found;
		},
		carries: (pid, mark) => pid !== process.pid && lines(WITH_ENVIRONMENT, "-p", String(pid)).some((line) => markIn(line)?.mark === mark),
		// The shell's job control makes every program a group leader.
		leads: () => true,
		childOf(shim) {
			const line = ask("-axo", "pid=,ppid=,stat=")
				.split("\n")
				.map((one) => one.trim().split(/\s+/))
				.find(([, parent, stat]) => Number(parent) === shim && !stat?.startsWith("Z"));
			const pid = Number(line?.[0] ?? 0);
			const start = pid > 0 ? this.startOf(pid) : null;
			return start === null ? null : { pid, start };
		},
		isCopy: () => false,
		below: () => [],
		unmarked: () => [],
		async lineage({ pid }) {
			const rows = (await askSoon("-axo", "pid=,ppid=")).split("\n").map((line) => line.trim().split(/\s+/).map(Number));
			const parents = new Map(rows.map(([one = 0, parent = 0]) => [one, parent]));
			const pids: number[] = [];
			const isBelow = (at: number) => at > 0 && at !== process.pid && parents.has(at);
			for (let at = pid; isBelow(at) && pids.length < HIGHEST; at = parents.get(at) ?? 0) pids.push(at);
			if (pids.length === 0) return [];
			const marked = (await askSoon(...lineArgs(WITH_ENVIRONMENT, "-p", pids.join(",")))).split("\n").map(markIn);
			const marks = new Map(marked.flatMap((one) => (one ? [[one.pid, one.mark]] : [])));
			return pids.map((one) => ({ pid: one, mark: marks.get(one) ?? null }));
		},
	};
}

function bootName(): string {
	try {
		return (
			execFileSync("/usr/sbin/sysctl", ["-n", "kern.bootsessionuuid"], {
				env: ENV,
				encoding: "latin1",
				stdio: ["ignore", "pipe", "ignore"],
			}).trim() || "unknown"
		);
	} catch {
		return "unknown";
	}
}
