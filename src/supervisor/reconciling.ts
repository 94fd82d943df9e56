// Matches this host's processes with the runs assigned to it: at start, and every few seconds afterwards. Crash recovery has no path of its own.

import { troubleOf } from "../contracts/disk.ts";
import type { Sighting } from "../contracts/processes.ts";
import type { Claimed } from "../contracts/scheduler.ts";
import { runId } from "../core/job.ts";
import { type RunFinding, reconcile } from "../core/reconcile.ts";
import { agentOf, enlistAgent, recordIn } from "./agent.ts";
import { remember, type SupervisorContext } from "./context.ts";
import { onProcessExit } from "./end/end.ts";
import { enlist, type LiveRun, markOf } from "./run.ts";
import { setClocks, startRun } from "./start/start.ts";
import { abandon, beginStop } from "./stop.ts";

export type Reconciled = { adopted: number; ended: number; lost: number; started: number; strangers: number };

export async function reconcileRuns(context: SupervisorContext, strangers: "with strangers" | "ours alone"): Promise<Reconciled> {
	const before = new Set(context.live.keys());
	context.forgotten.clear();
	const assigned = (await context.scheduler.assigned(context.hostName)).filter(({ job }) => job.kind === "command" || job.kind === "agent");
	const report: Reconciled = { adopted: 0, ended: 0, lost: 0, started: 0, strangers: 0 };
	if (context.closed) return report;
	const ids = new Set<string>();
	const unknown = new Map<string, Claimed>();
	for (const claimed of assigned) {
		const id = runId(claimed.job.id, claimed.run.attempt);
		ids.add(id);
		const run = context.live.get(id);
		if (run && !run.overdue) {
			const { intent } = claimed.run;
			if (intent) beginStop(context, run, intent.kind, intent.reason);
		} else if (!context.forgotten.has(id)) unknown.set(id, claimed);
	}
	// Abandon runs that are live here but no longer assigned to this host. Only those from before the question: runs claimed since are not in the answer.
	for (const id of before) {
		const run = context.live.get(id);
		if (run && !ids.has(id)) abandon(context, run);
	}

	const sightings = new Map<string, Sighting>();
	const found: RunFinding[] = [];
	for (const [id, claimed] of unknown) {
		const seen = lookAt(context, id, claimed);
		sightings.set(id, seen);
		found.push({ run: id, state: seen.state, ...(seen.state === "exited" ? { exit_code: seen.code } : {}) });
	}
	if (strangers === "with strangers") {
		const prefix = markOf(context, "");
		for (const mark of context.processes.marked(prefix).keys()) {
			const run = mark.slice(prefix.length);
			if (/^\d+\.\d+$/.test(run) && !ids.has(run) && !context.live.has(run)) found.push({ run, state: "alive" });
		}
	}
	for (const duty of reconcile([...unknown.keys()], found)) {
		if (duty.do === "stop") {
			const now = context.clock.monotonic();
			context.clearing.add(markOf(context, duty.run), now);
			context.alarm.at(now);
			report.strangers++;
			continue;
		}
		const claimed = unknown.get(duty.run);
		const seen = sightings.get(duty.run);
		if (!claimed || !seen) continue;
		if (seen.state === "unstarted" && !claimed.run.intent) {
			const earlier = context.live.get(duty.run) ?? enlist(claimed, context, 0);
			startRun(context, claimed, { secret: secretIn(descriptionOf(context, earlier)), handOvers: earlier.overdue ? earlier.handOvers : 0 });
			report.started++;
			continue;
		}
		const run = take(context, claimed, seen);
		if (seen.state === "alive") report.adopted++;
		else if (seen.state === "exited") report.ended++;
		else if (seen.state === "gone") report.lost++;
		if (seen.state === "exited" || seen.state === "gone") onProcessExit(context, run, seen);
	}
	return report;
}

/** A run without a start marker that was reported as started counts as gone: its folder was removed, and starting it again would make two. */
function lookAt(context: SupervisorContext, id: string, { job, run }: Claimed): Sighting {
	const seen = context.processes.look(id, `${context.runs}/${job.id}/${run.attempt}`);
	return seen.state === "unstarted" && run.launched ? { state: "gone", reboot: false } : seen;
}

/** Adopts a run from an earlier daemon, with its token, its time limits and a stop that was requested. */
function take(context: SupervisorContext, claimed: Claimed, seen: Sighting): LiveRun {
	const { clock, disk } = context;
	const run = enlist(claimed, context, clock.monotonic());
	const described = descriptionOf(context, run);
	run.secret = secretIn(described);
	const agent = run.kind === "agent" ? (recordIn(described) ?? agentOf(claimed, context.settings())) : null;
	if (agent) run.agent = enlistAgent(agent);
	if (seen.state === "alive") {
		run.stage = "running";
		run.pid = seen.pid;
		context.order.begin(run.id, run.dir);
	}
	if (disk.size(`${run.dir}/frozen`) !== null) run.frozen = clock.monotonic();
	remember(context, run);
	setClocks(context, run, claimed, Math.max(0, clock.now() - run.since));
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
		context.log.warn("run.json cannot be read: the run's own calls will be refused", { run: run.id, error: troubleOf(error) });
		return {};
	}
}

/** The token in run.json. It must stay valid: a slow launcher of the earlier daemon may still start the program with it. */
const secretIn = ({ token }: { token?: unknown }): string | null => (typeof token === "string" && token.length > 10 ? token : null);
