// What must be true when a round is over: by the daemon's own account, and by the proofs that the runs wrote themselves.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Lives } from "./life.ts";
import { type Fate, fates, type Piece } from "./work.ts";

export type Listed = { id: number; name: string; status: string; attempt: number; exit_kind: string | null };

export async function judge(lives: Lives, pieces: readonly Piece[], proofs: string): Promise<string[]> {
	const faults: string[] = [];
	const { jobs } = (await lives.ask((at) => at.call("job.list", { all: true, limit: 1000 }))) as unknown as { jobs: Listed[] };
	const status = await lives.ask((at) => at.call("scheduler.status", {}));
	const { locks } = await lives.ask((at) => at.call("lock.list", {}));
	if (status.running !== 0 || status.queued_total !== 0)
		faults.push(`${status.running} running and ${status.queued_total} queued at the end`);
	if (locks.length > 0) faults.push(`locks left: ${JSON.stringify(locks)}`);
	for (const job of jobs) {
		const { events } = await lives.ask((at) => at.call("job.history", { id: job.id }));
		const ends = events.filter((event) => event.kind === "ended").length;
		if (ends !== 1 && fates(pieces).get(job.name)?.status !== "blocked_by_dependency")
			faults.push(`job ${job.id} (${job.name}) ended ${ends} times`);
	}
	if (jobs.length !== pieces.length) faults.push(`${jobs.length} jobs instead of ${pieces.length}`);
	return [...faults, ...byProofs(pieces, jobs, proofs)];
}

function byProofs(pieces: readonly Piece[], jobs: readonly Listed[], proofs: string): string[] {
	const faults: string[] = [];
	const expected = fates(pieces);
	const files = readdirSync(proofs);
	if (files.includes("violations")) faults.push(...readFileSync(join(proofs, "violations"), "utf8").trim().split("\n"));
	for (const job of jobs) {
		const fate = expected.get(job.name) as Fate;
		const of = (ending: string) => files.filter((file) => file.startsWith(`${job.id}.`) && file.endsWith(ending));
		if (job.status !== fate.status || (fate.exit_kind !== undefined && job.exit_kind !== fate.exit_kind))
			faults.push(`job ${job.id} (${job.name}) is ${job.status} (${job.exit_kind}) instead of ${fate.status} (${fate.exit_kind ?? "any"})`);
		// One that was stopped on purpose has been signalled and has not come to its own end; all others never were.
		const whole = fate.exit_kind === undefined ? fate.attempts : 0;
		if (of(".begin").length !== fate.attempts || of(".end").length !== whole || job.attempt !== fate.attempts)
			faults.push(
				`job ${job.id} (${job.name}): ${of(".begin").length} attempts begun, ${of(".end").length} ended, ${job.attempt} counted; expected ${fate.attempts}`,
			);
		if (fate.exit_kind === undefined && of(".signals").length > 0) faults.push(`job ${job.id} (${job.name}) was interrupted`);
	}
	return faults;
}
