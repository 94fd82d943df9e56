// One round of chaos: work on a fresh home, a daemon that is killed again and again, and the proof that nothing was lost, doubled or left behind.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { judge, type Listed } from "./judge.ts";
import { Lives } from "./life.ts";
import { strays } from "./processes.ts";
import { PROGRAM } from "./program.ts";
import { drawWork, manifestOf, type Piece, randomOf } from "./work.ts";

const CAP = 8;
const CONFIG = `max_concurrent: ${CAP}\nstop:\n  grace_int: 200ms\n  grace_term: 500ms\n`;
/** A step that is not reached by then is not reached at all. */
const STEP_SECONDS = 60;

export type RoundOptions = {
	seed: number;
	jobs: number;
	kills: number;
	/** Where the first daemon shall kill itself, as `name[:nth]`. */
	step?: string | undefined;
	/** What starts a daemon; the built command when not given. */
	daemon?: string[];
};
export type RoundReport = { seed: number; step: string | undefined; kills: number; alive: number; faults: string[]; home: string };

export async function playRound({ seed, jobs, kills, step, daemon }: RoundOptions): Promise<RoundReport> {
	const home = mkdtempSync(join(tmpdir(), "sluice-chaos-"));
	const proofs = join(home, "proofs");
	mkdirSync(proofs);
	writeFileSync(join(home, "config.yml"), CONFIG);
	const program = join(home, "proof.sh");
	writeFileSync(program, PROGRAM);
	const random = randomOf(seed);
	const pieces = drawWork(random, jobs);
	const report: RoundReport = { seed, step, kills: 0, alive: 0, faults: [], home };
	const lives = new Lives(home, step, daemon, () => {
		report.alive += running(proofs).length;
	});
	try {
		// Applied again after a crash it changes nothing: names are skipped.
		await lives.ask((at) => at.call("job.apply", { manifest: manifestOf(pieces, program, proofs) }));
		const cancelling = cancelSome(lives, pieces, proofs);
		if (step !== undefined && lives.kills === 0 && !(await lives.diesByItself(STEP_SECONDS)))
			report.faults.push(`the step ${step} was not reached`);
		for (let left = kills; left > 0; left--) {
			// Mostly in the middle of its work, now and then while it is still coming up.
			if (random() < 0.75) (await lives.client()).close();
			await sleep(random() * 600);
			await lives.kill(random() * 100);
		}
		await cancelling;
		await ended(lives);
		report.faults.push(...(await judge(lives, pieces, proofs)));
		// What the runs left behind is swept shortly after their end.
		const left = () => strays(home).filter(({ pid }) => pid !== lives.pid);
		for (let tries = 0; left().length > 0 && tries < 200; tries++) await sleep(50);
		for (const stray of left()) report.faults.push(`process ${stray.pid} is left: ${stray.command}`);
		await lives.down();
		for (const stray of strays(home)) report.faults.push(`process ${stray.pid} is left after down: ${stray.command}`);
	} catch (error) {
		report.faults.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
	} finally {
		await lives.end();
		for (const stray of strays(home)) tryKill(stray.pid);
		if (report.faults.length === 0) rmSync(home, { recursive: true, force: true });
	}
	report.kills = lives.kills;
	return report;
}

/** Some jobs would run for ever: each is cancelled once it has begun, whoever lives then. */
async function cancelSome(lives: Lives, pieces: readonly Piece[], proofs: string): Promise<void> {
	const open = new Set(pieces.filter((piece) => piece.stop === "cancel").map((piece) => piece.name));
	while (open.size > 0) {
		const { jobs } = (await lives.ask((at) => at.call("job.list", {}))) as unknown as { jobs: Listed[] };
		const begun = new Set(readdirSync(proofs));
		for (const { id, name, attempt } of jobs) {
			if (!open.has(name) || !begun.has(`${id}.${attempt}.begin`)) continue;
			try {
				await lives.ask((at) => at.call("job.cancel", { id }));
			} catch (error) {
				// Cancelled by a call whose answer was lost, and ended since.
				if ((error as { code?: string }).code !== "illegal_transition") throw error;
			}
			open.delete(name);
		}
		await sleep(30);
	}
}

async function ended(lives: Lives): Promise<void> {
	for (;;) {
		const { jobs } = await lives.ask((at) => at.call("job.list", {}));
		if (jobs.length === 0) return;
		await sleep(50);
	}
}

/** Attempts that have begun and not ended yet. */
function running(proofs: string): string[] {
	const files = new Set(readdirSync(proofs));
	return [...files].filter((file) => file.endsWith(".begin") && !files.has(file.replace(".begin", ".end")));
}

function tryKill(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch {
		// It has gone by itself.
	}
}
