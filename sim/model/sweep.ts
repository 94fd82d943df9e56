// What time does: leases that run out, then every job decided anew. And what a host finds when it comes back.

import { accepted, agree, agreeSame, type Seen } from "./agree.ts";
import { beginDueCycle } from "./cycle.ts";
import { endRun, noteLaunch } from "./ending.ts";
import { isMerging } from "./gates/refusal.ts";
import { settle } from "./settle.ts";
import { find, type ModelJob, note, running, type State } from "./state.ts";

export function sweep(state: State, seen: Seen): void {
	for (const job of running(state)) {
		const until = job.run?.lease_until;
		if (until === undefined || until > state.now) continue;
		// At the very millisecond, and after a clock jump, either answer is right: the engine's is taken.
		if (until === state.now || job.run?.unsure) {
			const view = seen.job(job.id)?.run;
			if (view?.token === job.run?.token) {
				if (view?.lease_until !== undefined && job.run !== undefined) job.run.lease_until = view.lease_until;
				continue;
			}
		}
		note(state, "lease-lost");
		endRun(state, job, { exit_kind: "lost" }, seen);
	}
	settle(state, seen);
	beginDueCycle(state);
}

export type Found = { run: string; state: "alive" | "exited" | "gone" | "unstarted"; exit_code?: number };
type Recovered = { adopted: string[]; ended: string[]; lost: string[]; start: string[] };

export function recover(state: State, found: Found[], options: { host?: string; reboot?: boolean }, seen: Seen, host: string): void {
	const result = accepted<Recovered>(seen);
	const expected: Recovered = { adopted: [], ended: [], lost: [], start: [] };
	const mine = running(state).filter((job) => job.run?.host === (options.host ?? host));
	for (const job of mine) {
		const run = `${job.id}.${job.run?.attempt}`;
		const one = found.find((entry) => entry.run === run) ?? { run, state: "gone" as const };
		one.state === "exited"
			? expected.ended.push(run)
			: one.state === "alive"
				? expected.adopted.push(run)
				: one.state === "unstarted"
					? expected.start.push(run)
					: expected.lost.push(run);
		settleFound(state, job, one, options.reboot === true, seen);
	}
	settle(state, seen);
	if (result === undefined) return;
	for (const list of ["adopted", "ended", "lost", "start"] as const)
		agreeSame([...result[list]].sort(), expected[list].sort(), `recover: ${list}`);
}

function settleFound(state: State, job: ModelJob, found: Found, reboot: boolean, seen: Seen): void {
	if (job.run === undefined) return;
	if (found.state === "alive") {
		noteLaunch(state, job, job.run);
		return;
	}
	if (found.state === "unstarted") {
		const view = seen.job(job.id)?.run;
		agree(view === undefined || view.attempt === job.run.attempt, `job ${job.id}: recovery must start the same attempt again`);
		if (view !== undefined) job.run.token = view.token;
		return;
	}
	if (found.state === "exited") {
		const code = found.exit_code ?? 0;
		endRun(state, job, { exit_kind: code === 0 ? "completed" : "failed", exit_code: code }, seen);
		return;
	}
	endRun(state, job, { exit_kind: "lost", ...(reboot ? { reboot: true } : {}) }, seen);
}

/** gc: takes only what it may, and nothing that an active job refers to. */
export function gc(state: State, days: number, seen: Seen): void {
	const result = accepted<{ deleted: number; kept: number }>(seen);
	const gone = state.jobs.filter((job) => seen.job(job.id) === undefined);
	for (const job of gone) {
		agree(job.ended_at !== undefined && job.run === undefined, `gc removed job ${job.id}, which is ${job.status}`);
		agree(job.ended_at <= state.now - days * 86_400_000, `gc removed job ${job.id}, which ended only ${state.now - job.ended_at} ms ago`);
		agree(!isMerging(job), `gc removed job ${job.id}, whose merge is open`);
		const user = state.jobs.find((other) => other.ended_at === undefined && refersTo(other, job));
		agree(user === undefined, `gc removed job ${job.id}, which active job ${user?.id} refers to`);
	}
	if (result !== undefined) agreeSame(result.deleted, gone.length, "gc: deleted");
	state.jobs = state.jobs.filter((job) => !gone.includes(job));
	for (const job of gone) delete state.families[job.id];
	for (const job of state.jobs) agree(job.ended_at !== undefined || find(state, job.id) !== undefined, "gc lost a job");
}

export const refersTo = (user: ModelJob, job: ModelJob): boolean =>
	user.after.some((edge) => edge.job === job.id) ||
	user.path.includes(job.id) ||
	user.needs.some((artifact) => artifact === `job:${job.id}` || artifact === `patch:${job.id}`);
