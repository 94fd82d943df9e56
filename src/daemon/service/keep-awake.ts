// Keeps the machine from going to sleep while jobs run, by systemd-inhibit or caffeinate. Best effort.

import { type ChildProcess, spawn } from "node:child_process";
import type { Log } from "../../contracts/log.ts";
import { localHost } from "../../host/local.ts";

const LOOK_MS = 10_000;

/** Both commands end with the daemon: `cat` waits on a pipe that closes when the daemon dies. */
const COMMANDS: Partial<Record<NodeJS.Platform, string[]>> = {
	linux: ["systemd-inhibit", "--what=sleep:idle", "--who=sluice", "--why=jobs are running", "--mode=block", "cat"],
	darwin: ["caffeinate", "-i", "cat"],
};

export function keepAwake(parts: { log: Log; wanted: () => boolean; command?: string[] | undefined }): { look(): void; stop(): void } {
	const command = parts.command ?? COMMANDS[process.platform];
	let child: ChildProcess | undefined;
	let cancel: (() => void) | undefined;
	let broken = command === undefined;

	function look(): void {
		if (broken) return;
		if (!parts.wanted()) {
			child?.stdin?.end();
			child = undefined;
			cancel?.();
			cancel = undefined;
			return;
		}
		if (!child) {
			const [program = "", ...args] = command ?? [];
			const fresh = spawn(program, args, { stdio: ["pipe", "ignore", "ignore"] });
			fresh.stdin.on("error", () => {});
			fresh.on("error", (error) => {
				broken = true;
				parts.log.warn("the machine cannot be kept awake", { error });
			});
			fresh.on("exit", () => {
				if (child === fresh) child = undefined;
			});
			fresh.unref();
			child = fresh;
		}
		cancel ??= localHost.after(LOOK_MS, () => {
			cancel = undefined;
			look();
		});
	}

	return {
		look,
		stop() {
			broken = true;
			cancel?.();
			child?.stdin?.end();
		},
	};
}
