// Child processes of an earlier daemon: waits for its git commands to finish and terminates its hooks and verify commands. Repairs begin only after that,
// when no such process can change what is being repaired.

import type { Host } from "../contracts/host.ts";
import type { Log } from "../contracts/log.ts";
import type { Processes } from "../contracts/processes.ts";

const LOOK_MS = 20;
const GIT_MS = 60_000;
const GRACE_MS = 2_000;

/** Marks in the environment of git commands, and of programs that repos configure. */
export const gitMark = (homeTag: string) => `${homeTag}-git`;
export const workMark = (homeTag: string) => `${homeTag}-work`;

export async function waitForOrphans(parts: { processes: Processes; host: Host; log: Log; homeTag: string }): Promise<void> {
	const { processes, host, log, homeTag } = parts;
	const [git, work] = [gitMark(homeTag), workMark(homeTag)];
	const pause = () => new Promise<void>((resolve) => host.after(LOOK_MS, resolve, "hold"));
	let isLogged = false;
	for (let waited = 0; ; waited += LOOK_MS) {
		const found = processes.sweep([git, work]);
		const [gits, others] = [found.get(git) ?? [], found.get(work) ?? []];
		if (gits.length + others.length === 0) return;
		if (!isLogged) log.warn("waiting for what an earlier daemon had begun", { git: gits, programs: others });
		isLogged = true;
		if (others.length > 0) processes.signalAll(work, others, waited > GRACE_MS ? "SIGKILL" : "SIGTERM");
		if (gits.length > 0 && waited > GIT_MS) processes.signalAll(git, gits, waited > GIT_MS + GRACE_MS ? "SIGKILL" : "SIGTERM");
		await pause();
	}
}
