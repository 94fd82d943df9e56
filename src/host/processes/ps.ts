// The process table through ps(1), where there is no /proc (macOS). Best effort: each question is a process of its own, and a mark among the arguments looks like one in the environment.

import { execFileSync } from "node:child_process";
import type { ProcessTable } from "./proc.ts";

const ENV = { LC_ALL: "C", TZ: "UTC" };
const MAC = process.platform === "darwin";

export function psTable(ps: string): ProcessTable {
	const ask = (...args: string[]) => {
		try {
			return execFileSync(ps, args, { env: ENV, encoding: "latin1", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] });
		} catch {
			// ps fails when there is no such process.
			return "";
		}
	};
	/** A process's line with its environment: `E` on macOS, `e` elsewhere. */
	const lines = (...which: string[]) => ask(...(MAC ? ["-Eww"] : ["eww"]), ...which, "-o", "pid=,uid=,stat=,command=").split("\n");
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
			// Whole seconds: it may have begun at the end of that one.
			return Number.isNaN(at) ? null : at + 999;
		},
		carriers(wanted) {
			const found = new Map<string, number[]>();
			for (const line of lines(...(MAC ? ["-ax"] : ["ax"]))) {
				const one = markIn(line);
				if (one && one.pid !== process.pid && wanted(one.mark)) found.set(one.mark, [...(found.get(one.mark) ?? []), one.pid]);
			}
			return found;
		},
		carries: (pid, mark) => pid !== process.pid && lines("-p", String(pid)).some((line) => markIn(line)?.mark === mark),
		// The shell's job control has made it one.
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
