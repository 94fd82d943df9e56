// sluice status: the whole queue at a glance, once or continuously.

import type { Call } from "../../command.ts";
import { CliFailure } from "../../failure.ts";
import { answer, type Io } from "../../io.ts";
import type { ShownJob } from "../../printing/job-lines.ts";
import { listLines } from "../../printing/list.ts";
import { RUN_COLUMNS } from "../../printing/progress-words.ts";
import { tame } from "../../printing/sequences.ts";
import { statusLines } from "../../printing/status-lines.ts";

const EVERY_MS = 1000;
const RUNS = 15;

export async function run(call: Call, io: Io): Promise<number | undefined> {
	if (call.flag("watch")) return watch(io);
	const document = await io.askIfRunning("scheduler.status");
	if (!document) {
		const stopped = { schema_version: 1, daemon: "stopped" };
		answer(io, stopped, () => {
			io.print.warn("No daemon is running.");
			io.print.say(io.print.paintTalk("dim", "sluice up starts it; so does any command that needs it, such as sluice list"));
		});
		return undefined;
	}
	answer(io, document, () => {
		for (const line of statusLines(document, io)) io.print.out(line);
	});
	return undefined;
}

/** What each run is doing; a screen has room for some of them. */
function runLines(runs: readonly ShownJob[], total: number, io: Io): string[] {
	if (runs.length === 0) return [];
	const more = total > runs.length ? [io.print.paint("dim", `and ${total - runs.length} more: sluice top`)] : [];
	return ["", ...listLines(io, runs, RUN_COLUMNS), ...more];
}

/** Updates in place on a terminal; otherwise prints a new document or block after each change. */
async function watch(io: Io): Promise<never> {
	const live = io.world.stdout.isTTY === true && !io.json;
	let last = "";
	let document = await io.askIfRunning("scheduler.status");
	const asked = { status: ["running" as const], limit: RUNS };
	if (!document) throw new CliFailure("no_daemon", "no daemon is running", "sluice up starts it");
	// From here on requests are retried: a daemon that goes away may come back.
	for (; ; document = await io.ask("scheduler.status")) {
		const said = JSON.stringify(document);
		const runs = io.json || document.running === 0 ? [] : (await io.ask("job.list", asked)).jobs;
		const lines = io.json ? [said] : [...statusLines(document, io), ...runLines(runs, document.running, io)];
		if (live) io.world.stdout.write(`\u001b[H\u001b[J${tame(lines.join("\n"), "keep")}\n`);
		else if (said !== last) for (const line of lines) io.print.out(line);
		last = said;
		await new Promise<void>((resolve) => io.world.after(EVERY_MS, resolve));
	}
}
