// Matches this host's processes with the runs assigned to it: at start, and every few seconds afterwards. Crash recovery has no path of its own.

import type { Claimed } from "../contracts/scheduler.ts";
import { messageOf, never } from "../core/errors.ts";
import { runId } from "../core/job.ts";
import { type AssignedRun, type Duty, type FoundRun, reconcile } from "../core/reconcile.ts";
import { agentOf, enlistAgent, recordIn } from "./agent.ts";
import type { SupervisorContext } from "./context.ts";
import { onProcessExit } from "./end/end.ts";
import { readFrozen, setFrozen } from "./freeze.ts";
import { enlist, folderOf, type LiveRun, markOf } from "./run.ts";
import { setClocks, startRun } from "./start/start.ts";
import { abandon, beginStop } from "./stop.ts";
import { attachedIn } from "./telling/attach.ts";
import { inPromptOf, noteTold } from "./telling/given.ts";

export type Reconciled = { adopted: number; ended: number; lost: number; started: number; strangers: number };

export async function reconcileRuns(context: SupervisorContext, strangers: "with strangers" | "ours alone"): Promise<Reconciled> {
	const before = new Map(context.live.all().map((run) => [run.id, run.frozenFor.has("person")]));
	context.live.forgotten.clear();
	const assigned = (await context.scheduler.assigned(context.hostName)).filter(({ job }) => job.kind === "command" || job.kind === "agent");
	const report: Reconciled = { adopted: 0, ended: 0, lost: 0, started: 0, strangers: 0 };
	if (context.closed) return report;
	const runs = assigned.map((claimed) => {
		const { launched, intent, attempt, frozen } = claimed.run;
		const asked = { launched: launched === true, stopping: intent !== undefined, frozen: frozen !== undefined };
		return { run: runId(claimed.job.id, attempt), ...asked, claimed };
	});
	const isAssigned = new Set(runs.map(({ run }) => run));
	const found = runs.map(({ run, claimed, frozen }): FoundRun => ({ run, seen: findOf(context, run, claimed, frozen, before.get(run)) }));
	// Followed runs that are not in the answer. Only those from before the question: runs claimed since cannot be in it.
	for (const run of before.keys()) if (context.live.has(run) && !isAssigned.has(run)) found.push({ run, seen: { state: "followed" } });
	if (strangers === "with strangers")
		found.push(...markedRuns(context).filter(({ run }) => !isAssigned.has(run) && !context.live.has(run)));
	for (const duty of reconcile(runs, found)) carryOut(context, duty, report);
	for (const { run, claimed } of runs) {
		const live = context.live.get(run);
		if (live) noteTold(context, live, claimed.job);
	}
	return report;
}

/** `asked`: whether the scheduler's answer says that the run is frozen. `before`: whether it was here when the scheduler was asked. */
function findOf(
	context: SupervisorContext,
	id: string,
	{ job, run }: Claimed,
	asked: boolean,
	before: boolean | undefined,
): FoundRun["seen"] {
	const live = context.live.get(id);
	if (live && handOversIfOverdue(live) === null) {
		const now = live.frozenFor.has("person");
		// An event came while the scheduler was asked: it is newer than the answer.
		return { state: "followed", frozen: now === before ? now : asked };
	}
	if (context.live.forgotten.has(id)) return { state: "reported" };
	return context.processes.look(id, folderOf(context, job.id, run.attempt));
}

/** The runs of this home whose mark some process carries. */
function markedRuns(context: SupervisorContext): FoundRun[] {
	const prefix = markOf(context, "");
	const runs = [...context.processes.marked(prefix).keys()].map((mark) => mark.slice(prefix.length));
	return runs.filter((run) => /^\d+\.\d+$/.test(run)).map((run) => ({ run, seen: { state: "marked" } }));
}

function carryOut(context: SupervisorContext, duty: Duty<AssignedRun & { claimed: Claimed }>, report: Reconciled): void {
	switch (duty.do) {
		case "adopt":
			take(context, duty.assigned.claimed, duty.seen.pid);
			report.adopted++;
			return;
		case "end":
			onProcessExit(context, take(context, duty.assigned.claimed, null), duty.seen);
			report.ended++;
			return;
		case "lost":
			onProcessExit(context, take(context, duty.assigned.claimed, null), duty.seen);
			report.lost++;
			return;
		case "start":
			startAgain(context, duty.assigned);
			report.started++;
			return;
		case "forbid":
			take(context, duty.assigned.claimed, null);
			return;
		case "pass_stop": {
			const live = context.live.get(duty.assigned.run);
			const { intent } = duty.assigned.claimed.run;
			if (live && intent) beginStop(context, live, intent.kind, intent.reason);
			return;
		}
		case "freeze":
		case "thaw": {
			const live = context.live.get(duty.assigned.run);
			if (live) setFrozen(context, live, duty.do === "freeze" ? "frozen" : "thawed");
			return;
		}
		case "abandon": {
			const live = context.live.get(duty.run);
			if (live) abandon(context, live);
			return;
		}
		case "clear": {
			const now = context.clock.monotonic();
			context.clearing.add(markOf(context, duty.run), now);
			context.alarm.at(now);
			report.strangers++;
			return;
		}
		default:
			never(duty);
	}
}

/** Hands the same attempt to the launcher once more, with the token that an earlier hand-over may still use. */
function startAgain(context: SupervisorContext, { run, claimed }: { run: string; claimed: Claimed }): void {
	const earlier = context.live.get(run) ?? enlist(claimed, context, 0);
	startRun(context, claimed, { secret: secretIn(descriptionOf(context, earlier)), handOvers: handOversIfOverdue(earlier) ?? 0 });
}

/**
 * Takes over a run from an earlier daemon, with its token, its time limits and a stop that was requested. `pid`: its program, if it is alive; a run that has
 * not started yet is stopped here before it can.
 */
function take(context: SupervisorContext, claimed: Claimed, pid: number | null): LiveRun {
	const { clock } = context;
	const run = enlist(claimed, context, clock.monotonic());
	const described = descriptionOf(context, run);
	run.secret = secretIn(described);
	run.inPrompt = inPromptOf(described);
	run.attached = attachedIn(context, run);
	const agent = run.kind === "agent" ? (recordIn(described) ?? agentOf(claimed, context.settings())) : null;
	if (agent) run.agent = enlistAgent(agent);
	if (pid !== null) {
		run.stage = { is: "running" };
		run.pid = pid;
		context.order.begin(run.id, run.dir);
	}
	const frozen = readFrozen(context, run);
	if (frozen) {
		run.frozen = clock.monotonic();
		for (const cause of frozen.causes) run.frozenFor.add(cause);
	}
	context.live.add(run);
	setClocks(context, run, claimed, Math.max(0, clock.now() - run.since - (frozen?.forMs ?? 0)));
	if (pid !== null) setFrozen(context, run, claimed.run.frozen ? "frozen" : "thawed");
	const { intent } = claimed.run;
	if (intent) beginStop(context, run, intent.kind, intent.reason);
	return run;
}

/** The run's run.json; empty if it cannot be read. */
function descriptionOf(context: SupervisorContext, run: LiveRun): { token?: unknown } {
	try {
		const found: unknown = JSON.parse(context.disk.read(`${run.dir}/run.json`) ?? "{}");
		return typeof found === "object" && found !== null ? found : {};
	} catch (error) {
		context.log.warn("run.json cannot be read: the run's own calls will be refused", { run: run.id, error: messageOf(error) });
		return {};
	}
}

/** The token in run.json. It must stay valid: a slow launcher of the earlier daemon may still start the program with it. */
const secretIn = ({ token }: { token?: unknown }): string | null => (typeof token === "string" && token.length > 10 ? token : null);

/** How often a run was handed over of which nothing came; null if it is not to be handed over again. */
const handOversIfOverdue = ({ stage }: LiveRun): number | null => (stage.is === "launching" && stage.isOverdue ? stage.handOvers : null);
