// A person at a terminal takes over the session of a live run: the run's program is stopped between two turns, and the end of the run is held back while the
// person works in the session. The run keeps its slot, its locks and its worktree, because for the scheduler it has not ended.
//
//   state     the run                                       next
//   waiting   works on a turn                               ready: its program was stopped and is gone. The attachment is dropped if its lease expires
//   ready     its program is gone, its end is held back     released by the person, by a stop, or when the lease expires: the run's end is reported, and its
//                                                           job goes on at once; with `done` the run counts as completed instead
//
// attached.json in the run's folder has the lease, so that the next daemon holds the end back, too.

import { codeOf, messageOf, SluiceError } from "../../core/errors.ts";
import type { SupervisorContext } from "../context.ts";
import { jsonIn } from "../end/agent-end.ts";
import { readFurther } from "../progress/read.ts";
import type { Attachment, LiveRun } from "../run.ts";
import { askStop } from "../stop.ts";
import { isBetweenTurns, isResumable } from "./told.ts";

/** A terminal that has not asked for this long is gone. */
const ATTACH_LEASE_MS = 30_000;
const KEY_BYTES = 18;
const LOOK_MS = 250;

const fileOf = ({ dir }: LiveRun): string => `${dir}/attached.json`;
const refused = (job: number, why: string, hint: string): SluiceError =>
	new SluiceError("illegal_transition", `job ${job} ${why}`, { field: "id", hint });

/** Where and how a person goes on with the session. */
export type AttachedSession = {
	key: string;
	state: Attachment["state"];
	session: string | null;
	account: string | null;
	cwd: string | null;
};

/** Asks for the session of a job's live run; with the key of an earlier call, renews the lease. */
export function attach(context: SupervisorContext, job: number, { by, key }: { by: string; key: string | null }): AttachedSession {
	const run = context.live.ofJob(job);
	if (!run)
		throw refused(
			job,
			key === null ? "has no run on this host" : "is not attached any more: its run has ended",
			`sluice why ${job} says how it stands`,
		);
	const { attached } = run;
	if (attached !== null && attached.key !== key)
		throw refused(job, `is attached by ${attached.by}`, "it can be attached again when that has ended");
	if (attached === null && key !== null) throw refused(job, "is not attached any more", `sluice attach ${job} begins anew`);
	if (attached === null) {
		mayAttach(run);
		readFurther(context, run);
		const heard = run.agent?.reader.reading.heard ?? 0;
		run.attached = { key: context.secret(KEY_BYTES), by, since: context.clock.now(), until: 0, heard, state: "waiting", release: null };
	}
	const mine = run.attached as Attachment;
	renew(context, run, mine);
	const { cwd } = (jsonIn(context.disk, `${run.dir}/run.json`) ?? {}) as { cwd?: unknown };
	return {
		key: mine.key,
		state: mine.state,
		session: run.agent?.reader.reading.session ?? run.agent?.session ?? null,
		account: run.agent?.account ?? null,
		cwd: typeof cwd === "string" ? cwd : null,
	};
}

function mayAttach(run: LiveRun): void {
	const { job, agent } = run;
	if (agent === null)
		throw refused(job, "runs a command: only an agent's session can be attached", `sluice logs ${job} -f shows its output`);
	if (run.stop || run.stage.is !== "running") throw refused(job, "is just starting or ending", "try again in a moment");
	if (agent.resumes !== true)
		throw refused(job, `runs ${agent.name}, whose session cannot be resumed`, `sluice logs ${job} -f shows its output`);
}

function renew(context: SupervisorContext, run: LiveRun, attached: Attachment): void {
	const { clock, disk, alarm, log } = context;
	attached.until = clock.now() + ATTACH_LEASE_MS;
	try {
		const { key, by, since, until } = attached;
		disk.replace(fileOf(run), `${JSON.stringify({ key, by, since, until })}\n`);
	} catch (error) {
		log.warn("the lease of an attached terminal could not be written", { run: run.id, error: messageOf(error) });
	}
	alarm.at(clock.monotonic());
}

/** Ends an attachment. False if it has ended already. */
export function detach(context: SupervisorContext, job: number, { key, done }: { key: string; done: boolean }): boolean {
	const run = context.live.ofJob(job);
	const attached = run?.attached;
	if (!run || !attached || attached.key !== key) return false;
	release(context, run, done ? "done" : "goes on");
	return true;
}

/** Lets the run's end be reported. */
export function release(context: SupervisorContext, run: LiveRun, how: "goes on" | "done"): void {
	const { attached } = run;
	if (!attached) return;
	const then = attached.release;
	run.attached = null;
	context.disk.remove(fileOf(run));
	if (then === null) return;
	run.wasAttached = true;
	if (how === "goes on") {
		then();
		return;
	}
	context.scheduler
		.takeBackStop({ job: run.job, token: run.token })
		.then((isTaken) => {
			if (isTaken) run.asDone = true;
			if (isTaken) run.stop = null;
		})
		.catch((error) => context.log.warn("a run could not be ended as done", { run: run.id, code: codeOf(error) }))
		.finally(then);
}

/** Holds the end of a run back while a person has its session. Returns false if no person has. */
export function holdForPerson(context: SupervisorContext, run: LiveRun, then: () => void): boolean {
	const { attached } = run;
	if (attached === null || run.fenced || run.stop?.kind !== "preempted" || attached.until <= context.clock.now()) {
		run.attached = null;
		return false;
	}
	attached.state = "ready";
	attached.release = then;
	context.alarm.at(context.clock.monotonic());
	return true;
}

/** Stops a run that a terminal waits for, when it is between two turns; ends attachments whose lease has expired. Returns when to look again. */
export function checkAttached(context: SupervisorContext, run: LiveRun, now: number): number {
	const { attached, agent } = run;
	if (attached === null || agent === null) return Number.POSITIVE_INFINITY;
	if (attached.until <= context.clock.now()) {
		context.log.info("a terminal that was attached is gone: the run goes on", { run: run.id, by: attached.by });
		release(context, run, "goes on");
		return Number.POSITIVE_INFINITY;
	}
	if (attached.state === "ready") return now + LOOK_MS * 4;
	if (run.stop || run.asking || run.stage.is !== "running" || run.frozen !== null) return now + LOOK_MS;
	readFurther(context, run);
	if (isResumable(run) && isBetweenTurns(context, run, attached.heard))
		void askStop(context, run, "preempted", `attached by ${attached.by}`, "resumes");
	return now + LOOK_MS;
}

/** The attachment of a run that an earlier daemon left; null if there is none, or its lease is over. */
export function attachedIn(context: SupervisorContext, run: LiveRun): Attachment | null {
	const { key, by, since, until } = (jsonIn(context.disk, fileOf(run)) ?? {}) as Record<string, unknown>;
	if (typeof key !== "string" || typeof by !== "string" || typeof since !== "number" || typeof until !== "number") return null;
	return until <= context.clock.now() ? null : { key, by, since, until, heard: 0, state: "waiting", release: null };
}
