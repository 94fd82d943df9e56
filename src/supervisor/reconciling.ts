// Matching this host's processes with what it was assigned: at start, and now and then afterwards. Recovery has no path of its own.

import { runId } from "../core/job.ts";
import { type Finding, reconcile } from "../core/reconcile.ts";
import { troubleOf } from "../disk.ts";
import type { Sighting } from "../processes.ts";
import type { Claimed } from "../scheduler.ts";
import { agentOf, enlistAgent, recordIn } from "./agent.ts";
import { settle } from "./end.ts";
import { type Floor, remember } from "./floor.ts";
import { enlist, type LiveRun, markOf } from "./run.ts";
import { setClocks, startRun } from "./start.ts";
import { abandon, beginStop } from "./stop.ts";

export type Reconciled = { adopted: number; ended: number; lost: number; started: number; strangers: number };

export async function reconcileRuns(floor: Floor, strangers: "with strangers" | "ours alone"): Promise<Reconciled> {
	const before = new Set(floor.live.keys());
	floor.forgotten.clear();
	const assigned = (await floor.scheduler.assigned(floor.hostName)).filter(({ job }) => job.kind === "command" || job.kind === "agent");
	const report: Reconciled = { adopted: 0, ended: 0, lost: 0, started: 0, strangers: 0 };
	if (floor.closed) return report;
	const ids = new Set<string>();
	const unknown = new Map<string, Claimed>();
	for (const claimed of assigned) {
		const id = runId(claimed.job.id, claimed.run.attempt);
		ids.add(id);
		const run = floor.live.get(id);
		if (run && !run.overdue) {
			const { intent } = claimed.run;
			if (intent) beginStop(floor, run, intent.kind, intent.reason);
		} else if (!floor.forgotten.has(id)) unknown.set(id, claimed);
	}
	// Live here, but no longer given to us. Those that came in meanwhile are not in the answer yet.
	for (const id of before) {
		const run = floor.live.get(id);
		if (run && !ids.has(id)) abandon(floor, run);
	}

	const sightings = new Map<string, Sighting>();
	const found: Finding[] = [];
	for (const [id, claimed] of unknown) {
		const seen = lookAt(floor, id, claimed);
		sightings.set(id, seen);
		found.push({ run: id, state: seen.state, ...(seen.state === "exited" ? { exit_code: seen.code } : {}) });
	}
	if (strangers === "with strangers") {
		const prefix = markOf(floor, "");
		for (const mark of floor.processes.marked(prefix).keys()) {
			const run = mark.slice(prefix.length);
			if (/^\d+\.\d+$/.test(run) && !ids.has(run) && !floor.live.has(run)) found.push({ run, state: "alive" });
		}
	}
	for (const duty of reconcile([...unknown.keys()], found)) {
		if (duty.do === "stop") {
			const now = floor.clock.monotonic();
			floor.clearing.add(markOf(floor, duty.run), now);
			floor.alarm.at(now);
			report.strangers++;
			continue;
		}
		const claimed = unknown.get(duty.run);
		const seen = sightings.get(duty.run);
		if (!claimed || !seen) continue;
		if (seen.state === "unstarted" && !claimed.run.intent) {
			const earlier = floor.live.get(duty.run) ?? enlist(claimed, floor, 0);
			startRun(floor, claimed, { secret: secretIn(descriptionOf(floor, earlier)), handOvers: earlier.overdue ? earlier.handOvers : 0 });
			report.started++;
			continue;
		}
		const run = take(floor, claimed, seen);
		if (seen.state === "alive") report.adopted++;
		else if (seen.state === "exited") report.ended++;
		else if (seen.state === "gone") report.lost++;
		if (seen.state === "exited" || seen.state === "gone") settle(floor, run, seen);
	}
	return report;
}

/** No marker, though the scheduler was told that the process is there: the folder was taken away, and starting again would make two. */
function lookAt(floor: Floor, id: string, { job, run }: Claimed): Sighting {
	const seen = floor.processes.look(id, `${floor.runs}/${job.id}/${run.attempt}`);
	return seen.state === "unstarted" && run.launched ? { state: "gone", reboot: false } : seen;
}

/** Takes over a run from an earlier life, with its token, its clocks and what was asked of it. */
function take(floor: Floor, claimed: Claimed, seen: Sighting): LiveRun {
	const { clock, disk } = floor;
	const run = enlist(claimed, floor, clock.monotonic());
	const described = descriptionOf(floor, run);
	run.secret = secretIn(described);
	const agent = run.kind === "agent" ? (recordIn(described) ?? agentOf(claimed, floor.settings())) : null;
	if (agent) run.agent = enlistAgent(agent);
	if (seen.state === "alive") {
		run.stage = "running";
		run.pid = seen.pid;
		floor.order.begin(run.id, run.dir);
	}
	if (disk.size(`${run.dir}/frozen`) !== null) run.frozen = clock.monotonic();
	remember(floor, run);
	setClocks(floor, run, claimed, Math.max(0, clock.now() - run.since));
	const { intent } = claimed.run;
	if (intent) beginStop(floor, run, intent.kind, intent.reason);
	return run;
}

/** Its run.json; empty when it cannot be read. */
function descriptionOf(floor: Floor, run: LiveRun): { token?: unknown } {
	try {
		const found: unknown = JSON.parse(floor.disk.read(`${run.dir}/run.json`) ?? "{}");
		return typeof found === "object" && found !== null ? found : {};
	} catch (error) {
		floor.log.warn("run.json cannot be read: the run's own calls will be refused", { run: run.id, error: troubleOf(error) });
		return {};
	}
}

/** Its token, if it has been given one: a launcher that was slow may still start it with that. */
const secretIn = ({ token }: { token?: unknown }): string | null => (typeof token === "string" && token.length > 10 ? token : null);
