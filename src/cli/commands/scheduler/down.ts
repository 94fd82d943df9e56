// sluice down: stops the daemon, and waits until it has gone.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { VersionDocument } from "../../../api/protocol/scheduler.ts";
import { codeOf } from "../../../core/errors.ts";
import type { Call } from "../../command.ts";
import { answer, type Io } from "../../io.ts";
import { counted } from "../../printing/print.ts";

const LOOK_MS = 50;

/** After this many checks, give up: the pid may belong to another machine or container. */
const MOST_LOOKS = 600;

const WITH_RUNS = "stopped, and all that ran with it";
const WITHOUT_RUNS = "stopped; what runs goes on, and is found again by the next daemon";

export async function run(call: Call, io: Io): Promise<undefined> {
	const stopRuns = call.flag("stop-runs");
	const running = await io.askIfRunning("scheduler.version");
	const document = running && (await io.askIfRunning("scheduler.down", stopRuns ? { stop_runs: true } : {}));
	if (!document) return stopRuns ? stopLeft(io) : none(io, "no daemon is running");
	if (!io.json) io.print.say(io.print.paintTalk("dim", "stopping …"));
	await ended(io, running);
	answer(io, document, () => io.print.say(document.running === 0 ? "stopped" : stopRuns ? WITH_RUNS : WITHOUT_RUNS));
}

const nap = (io: Io) => new Promise<void>((resolve) => io.world.after(LOOK_MS, resolve));

/** The daemon closes its connections before it closes the queue's file: only after the process has ended may the file be copied or replaced. */
async function ended(io: Io, { pid }: Partial<VersionDocument>): Promise<void> {
	await io.gone();
	if (typeof pid !== "number") return;
	for (let looks = 0; looks < MOST_LOOKS && isAlive(pid); looks++) await nap(io);
}

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
	} catch (error) {
		return codeOf(error) === "EPERM";
	}
	try {
		// A zombie: the process has ended, but its parent has not reaped it yet.
		return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
	} catch {
		return true;
	}
}

function none(io: Io, words: string): undefined {
	answer(io, { schema_version: 1, stopping: false, running: 0 }, () => io.print.say(words));
}

/** Runs outlive their daemon. Starts a daemon that claims nothing: it finds the runs and stops them like its own, so they use no retry. */
async function stopLeft(io: Io): Promise<undefined> {
	const home = io.world.homeOf(io.home);
	const nothing = "no daemon is running, and no run is left";
	if (!existsSync(join(home, "tag"))) return none(io, nothing);
	const daemon = await io.world.daemon();
	await daemon.start({ home, port: null, claims: "off" });
	let running = await io.ask("scheduler.version");
	for (; running.ready !== true; running = await io.ask("scheduler.version")) await nap(io);
	const document = await io.ask("scheduler.down", { stop_runs: true });
	await ended(io, running);
	const count = Number(document.running);
	answer(io, document, () => io.print.say(count === 0 ? nothing : `stopped ${counted(count, "run")} that an earlier daemon had left`));
}
