// sluice down: stops the daemon, and stays until it has gone.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Call } from "../command.ts";
import { answer, type Io } from "../io.ts";
import { counted } from "../print.ts";

const LOOK_MS = 50;

const WITH_RUNS = "stopped, and all that ran with it";
const WITHOUT_RUNS = "stopped; what runs goes on, and is found again by the next daemon";

export async function run(call: Call, io: Io): Promise<undefined> {
	const stopRuns = call.flag("stop-runs");
	const document = await io.askIfRunning("scheduler.down", stopRuns ? { stop_runs: true } : {});
	if (!document) return stopRuns ? stopLeft(io) : none(io, "no daemon is running");
	if (!io.json) io.print.say(io.print.paintTalk("dim", "stopping …"));
	await io.gone();
	answer(io, document, () => io.print.say(document.running === 0 ? "stopped" : stopRuns ? WITH_RUNS : WITHOUT_RUNS));
	return undefined;
}

function none(io: Io, words: string): undefined {
	answer(io, { schema_version: 1, stopping: false, running: 0 }, () => io.print.say(words));
}

/** Runs outlive their daemon. One that starts nothing new finds them, and stops them as it would its own: they burn no retry. */
async function stopLeft(io: Io): Promise<undefined> {
	const home = io.world.homeOf(io.home);
	const nothing = "no daemon is running, and no run is left";
	if (!existsSync(join(home, "tag"))) return none(io, nothing);
	const daemon = await io.world.daemon();
	await daemon.start({ home, port: null, store: undefined, name: undefined, labels: [], claims: "off" });
	while ((await io.ask("scheduler.version")).ready !== true) await new Promise<void>((resolve) => io.world.after(LOOK_MS, resolve));
	const document = await io.ask("scheduler.down", { stop_runs: true });
	await io.gone();
	const count = Number(document.running);
	answer(io, document, () => io.print.say(count === 0 ? nothing : `stopped ${counted(count, "run")} that an earlier daemon had left`));
}
