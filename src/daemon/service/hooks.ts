// Programs that the user configures and the daemon runs at certain points: no shell, with a timeout. A failure is logged and has no other consequence.

import { spawn } from "node:child_process";
import type { Host } from "../../contracts/host.ts";
import type { Log } from "../../contracts/log.ts";

const LONGEST_MS = 60_000;

export function createHooks(parts: { host: Pick<Host, "after">; log: Log; env: () => Record<string, string>; cwd: string }) {
	const { host, log } = parts;

	/** Resolves when the program has ended, however it ended. */
	function run(name: string, argv: readonly string[], more: Record<string, string>): Promise<void> {
		return new Promise((resolve) => {
			const [program = "", ...args] = argv;
			const child = spawn(program, args, { cwd: parts.cwd, env: { ...parts.env(), ...more }, stdio: ["ignore", "ignore", "pipe"] });
			let said = "";
			child.stderr.on("data", (chunk) => {
				said = `${said}${chunk}`.slice(-1000);
			});
			const cancel = host.after(LONGEST_MS, () => child.kill("SIGKILL"));
			child.on("error", (error) => log.warn("a hook could not be started", { hook: name, error }));
			child.on("close", (code, signal) => {
				cancel();
				if (code !== 0) log.warn("a hook failed", { hook: name, code: code ?? signal, stderr: said.trim() });
				resolve();
			});
		});
	}

	return {
		/** Runs the hook once for each repo of the jobs that a dispatch cycle started; jobs without a repo count as one repo. */
		afterDispatch(argv: readonly string[], started: readonly { job: number; repo: string | null }[]): void {
			if (argv.length === 0) return;
			for (const repo of new Set(started.map((one) => one.repo))) {
				const jobs = started.filter((one) => one.repo === repo).map((one) => one.job);
				void run("after_dispatch", argv, { ...(repo === null ? {} : { SLUICE_REPO: repo }), SLUICE_JOBS: jobs.join(" ") });
			}
		},
	};
}
