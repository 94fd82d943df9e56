// One round of chaos: work on a fresh home, a daemon that is killed again and again, and the proof that nothing was lost, doubled or left behind.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "../src/api/client.ts";
import { type Daemon, isGone, kill, reach, startDaemon } from "./daemon.ts";
import { strays } from "./processes.ts";
import { PROGRAM } from "./program.ts";
import { drawWork, type Fate, fates, manifestOf, type Piece, randomOf } from "./work.ts";

const CAP = 8;
export type RoundOptions = { seed: number; jobs: number; kills: number; step?: string | undefined; daemon?: readonly string[] };
export type RoundReport = { seed: number; step: string | undefined; kills: number; alive: number; faults: string[]; home: string };

export async function playRound({ seed, jobs, kills, step, daemon: argv }: RoundOptions): Promise<RoundReport> {
	const home = mkdtempSync(join(tmpdir(), "sluice-chaos-"));
	const proofs = join(home, "proofs");
	mkdirSync(proofs);
	writeFileSync(join(home, "config.yml"), `max_concurrent: ${CAP}\n`);
	const program = join(home, "proof.sh");
	writeFileSync(program, PROGRAM);
	const random = randomOf(seed);
	const pieces = drawWork(random, jobs);
	const report: RoundReport = { seed, step, kills: 0, alive: 0, faults: [], home };
	let daemon: Daemon = startDaemon(home, step, argv);
	try {
		const again = async () => {
			report.kills++;
			report.alive += running(proofs).length;
			// The step is one for the first life; the later ones die at random.
			daemon = startDaemon(home, undefined, argv);
		};
		const client = async (): Promise<Client> => {
			for (;;) {
				const found = await reach(home, daemon);
				if (found) return found;
				await again();
			}
		};
		const ask = async <T>(call: (client: Client) => Promise<T>): Promise<T> => {
			for (;;) {
				const at = await client();
				try {
					return await call(at);
				} catch (error) {
					if (!["disconnected", "no_daemon", "closed"].includes((error as { code?: string }).code ?? "")) throw error;
					// It is dying: its exit is a moment away.
					await sleep(10);
				} finally {
					at.close();
				}
			}
		};
		// Applied again after a crash it changes nothing: names are skipped.
		await ask((at) => at.call("job.apply", { manifest: manifestOf(pieces, program, proofs) }));
		for (let left = kills; left > 0; left--) {
			// Mostly in the middle of its work, now and then while it is still coming up.
			if (random() < 0.75) (await client()).close();
			await sleep(random() * 600);
			if (isGone(daemon)) await again();
			const before = running(proofs);
			report.alive += before.length;
			await kill(daemon);
			report.kills++;
			await sleep(random() * 100);
			daemon = startDaemon(home, undefined, argv);
		}
		let open: { status: string }[];
		do {
			await sleep(50);
			open = (await ask((at) => at.call("job.list", {}))).jobs;
		} while (open.length > 0);
		const all = (await ask((at) => at.call("job.list", { all: true, limit: 1000 }))).jobs as unknown as Listed[];
		const status = (await ask((at) => at.call("scheduler.status", {}))) as unknown as { running: number; queued_total: number };
		const locks = (await ask((at) => at.call("lock.list", {}))) as unknown as { locks: unknown[] };
		if (status.running !== 0 || status.queued_total !== 0)
			report.faults.push(`${status.running} running and ${status.queued_total} queued at the end`);
		if (locks.locks.length > 0) report.faults.push(`locks left: ${JSON.stringify(locks.locks)}`);
		for (const job of all) {
			const { events } = (await ask((at) => at.call("job.history", { id: job.id }))) as unknown as { events: { kind: string }[] };
			const ends = events.filter((event) => event.kind === "ended").length;
			if (ends !== 1 && fates(pieces).get(job.name)?.status !== "blocked_by_dependency")
				report.faults.push(`job ${job.id} (${job.name}) ended ${ends} times`);
		}
		report.faults.push(...judge(pieces, all, proofs));
		// What the runs left behind is swept shortly after their end.
		const left = () => strays(home).filter(({ pid }) => pid !== daemon.child.pid);
		for (let tries = 0; left().length > 0 && tries < 200; tries++) await sleep(50);
		for (const stray of left()) report.faults.push(`process ${stray.pid} is left: ${stray.command}`);
		const at = await client();
		await at.call("scheduler.down", {});
		at.close();
		await daemon.gone;
		for (const stray of strays(home)) report.faults.push(`process ${stray.pid} is left after down: ${stray.command}`);
	} catch (error) {
		report.faults.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
	} finally {
		if (!isGone(daemon)) await kill(daemon);
		for (const stray of strays(home)) tryKill(stray.pid);
		if (report.faults.length === 0) rmSync(home, { recursive: true, force: true });
	}
	return report;
}

type Listed = { id: number; name: string; status: string; attempt: number };

/** Attempts that have begun and not ended yet. */
function running(proofs: string): string[] {
	const files = new Set(readdirSync(proofs));
	return [...files].filter((file) => file.endsWith(".begin") && !files.has(file.replace(".begin", ".end")));
}

function judge(pieces: readonly Piece[], jobs: readonly Listed[], proofs: string): string[] {
	const faults: string[] = [];
	const expected = fates(pieces);
	const files = readdirSync(proofs);
	for (const file of files) {
		if (file === "violations") faults.push(...readFileSync(join(proofs, file), "utf8").trim().split("\n"));
		if (file.endsWith(".signals")) faults.push(`${file}: ${readFileSync(join(proofs, file), "utf8").trim()}`);
	}
	if (jobs.length !== pieces.length) faults.push(`${jobs.length} jobs instead of ${pieces.length}`);
	for (const job of jobs) {
		const fate = expected.get(job.name) as Fate;
		if (job.status !== fate.status) faults.push(`job ${job.id} (${job.name}) is ${job.status} instead of ${fate.status}`);
		const begun = files.filter((file) => file.startsWith(`${job.id}.`) && file.endsWith(".begin"));
		const ended = files.filter((file) => file.startsWith(`${job.id}.`) && file.endsWith(".end"));
		if (begun.length !== fate.attempts || ended.length !== fate.attempts || job.attempt !== fate.attempts)
			faults.push(
				`job ${job.id} (${job.name}): ${begun.length} attempts begun, ${ended.length} ended, ${job.attempt} counted, ${fate.attempts} expected`,
			);
	}
	return faults;
}

function tryKill(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch {
		// It has gone by itself.
	}
}
