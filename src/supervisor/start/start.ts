// Starts a run: first its folder, then the launcher. The claim is durable, so the next pass can go on after a crash at any point here: without a start
// marker, the same attempt may be started.

import { troubleOf } from "../../contracts/disk.ts";
import type { Claimed, ResultView } from "../../contracts/scheduler.ts";
import type { EnteredWorkspace, Workspaces } from "../../contracts/workspace.ts";
import { SluiceError } from "../../core/errors.ts";
import { placesIn } from "../../core/recipes/after-result.ts";
import { agentOf, enlistAgent, recordOf } from "../agent.ts";
import { expectStart, isOvertaken, type ProgramFound, type SupervisorContext } from "../context.ts";
import { launchFailed, see, withdraw } from "../end/end.ts";
import { enlist, folderOf, type LiveRun } from "../run.ts";
import { type PreparedStart, prepare } from "./prepare.ts";
import { beforeOf, priorOf } from "./prior.ts";

/** After this long without a start, a hand-over counts as failed: the launcher died with it, or the disk refuses the marker. */
const RELAUNCH_MS = 10_000;
const HAND_OVERS = 3;
const SECRET_BYTES = 18;
const TAG_BYTES = 9;

/** `earlier`: an earlier hand-over of the same attempt, which may still be under way. */
export function startRun(
	context: SupervisorContext,
	claimed: Claimed,
	earlier: { secret: string | null; handOvers: number } | null = null,
): LiveRun {
	const now = context.clock.monotonic();
	const run = enlist(claimed, context, now);
	context.step?.("claimed", run.id);
	run.secret = earlier?.secret ?? context.secret(SECRET_BYTES);
	run.handOvers = (earlier?.handOvers ?? 0) + 1;
	context.live.add(run);
	setClocks(context, run, claimed, 0);
	const settings = context.settings();
	const ours = { socket: context.socket, home: context.home ?? null, tag: context.secret(TAG_BYTES) };
	const given = { run: run.id, dir: run.dir, token: run.secret, ...ours };
	try {
		if (context.disk.makeFolder(run.dir) === "there" && earlier === null) setAside(context, run);
	} catch (error) {
		launchFailed(context, run, `the run's folder could not be made: ${troubleOf(error)}`);
		return run;
	}
	const prepared = (results: ResultView[]) => {
		const prior = priorOf(context, run, claimed.job);
		const before = run.kind === "agent" ? beforeOf(context, run) : null;
		const known = { prior, before, results };
		if (run.housed && context.workspaces)
			enter(context, run, claimed, (place) => go(context, run, claimed, prepare(claimed, settings, given, { ...known, place })));
		else go(context, run, claimed, prepare(claimed, settings, given, known));
	};
	const asksForResults = placesIn(claimed.spec.prompt ?? "").length > 0;
	const begin = () => (asksForResults ? withResults(context, run, prepared) : prepared([]));
	const { job } = claimed;
	const isSettled = job.item === undefined && job.pinned_head === undefined;
	const confirmed = () => (isSettled || !context.confirm ? begin() : whenConfirmed(context, run, context.confirm(job), begin));
	const last = { job: run.job, attempt: run.attempt - 1 };
	if (context.bringPrior && last.attempt > 0 && context.disk.changedAt(folderOf(context, last.job, last.attempt)) === null)
		whenBrought(context, run, context.bringPrior(last), confirmed);
	else confirmed();
	return run;
}

/** Fetches the prior run's output from another host first. If the run is stopped meanwhile, the stop makes the start marker, and nothing is started. */
function whenBrought(context: SupervisorContext, run: LiveRun, bringing: Promise<void>, begin: () => void): void {
	run.entering = true;
	bringing
		.then(() => {
			run.entering = false;
			run.launchedAt = context.clock.monotonic();
			if (!context.closed && context.live.get(run.id) === run && run.stage === "launching" && run.stop === null) begin();
		})
		.catch((error) => context.log.error("a run could not be started", { run: run.id, error: troubleOf(error) }));
}

/** Reads the predecessors' results for the prompt first. */
function withResults(context: SupervisorContext, run: LiveRun, then: (results: ResultView[]) => void): void {
	run.entering = true;
	context.scheduler
		.takeResults(run)
		.then((results) => {
			run.entering = false;
			run.launchedAt = context.clock.monotonic();
			if (!context.closed && context.live.get(run.id) === run && run.stage === "launching" && run.stop === null) then(results);
		})
		.catch((error) => {
			context.log.error("the results that a prompt asks for could not be read", { run: run.id, error: troubleOf(error) });
			run.entering = false;
			if (!context.closed && !isOvertaken(error) && context.live.get(run.id) === run && run.stage === "launching")
				launchFailed(context, run, `the results that its prompt asks for could not be read: ${troubleOf(error)}`);
		});
}

/**
 * Checks item and pinned head again first, because the gates did so some seconds ago. If the item was closed or put off since, or the head has moved, the
 * job goes back to waiting, and the attempt does not count as a failure.
 */
function whenConfirmed(context: SupervisorContext, run: LiveRun, confirming: Promise<string | null>, begin: () => void): void {
	run.entering = true;
	confirming
		.then((refused) => {
			run.entering = false;
			run.launchedAt = context.clock.monotonic();
			if (context.closed || context.live.get(run.id) !== run || run.stage !== "launching") return;
			if (refused !== null) withdraw(context, run, refused);
			else if (run.stop === null) begin();
		})
		.catch((error) => context.log.error("a run could not be started", { run: run.id, error: troubleOf(error) }));
}

function go(context: SupervisorContext, run: LiveRun, claimed: Claimed, prepared: PreparedStart | { refused: string }): void {
	if ("refused" in prepared) {
		launchFailed(context, run, prepared.refused, "job");
		return;
	}
	const { versionProblem, argv, env, cwd } = prepared;
	if (versionProblem === undefined || !context.versionOf) launch(context, run, claimed, prepared);
	else
		whenFound(context, run, context.versionOf(argv[0] as string, { env, cwd }), (program) => {
			// Launch a missing program all the same: the launch fails with a clear message.
			const problem = program.there ? versionProblem(program.version) : null;
			if (problem === null) launch(context, run, claimed, prepared);
			else launchFailed(context, run, problem, "job");
		});
}

/** Waits for the program's version first. If the run is stopped meanwhile, the stop makes the start marker, and nothing is started. */
function whenFound(context: SupervisorContext, run: LiveRun, finding: Promise<ProgramFound>, then: (program: ProgramFound) => void): void {
	run.entering = true;
	finding
		.then((program) => {
			run.entering = false;
			run.launchedAt = context.clock.monotonic();
			if (!context.closed && context.live.get(run.id) === run && run.stage === "launching" && run.stop === null) then(program);
		})
		.catch((error) => context.log.error("a run could not be started", { run: run.id, error: troubleOf(error) }));
}

function launch(context: SupervisorContext, run: LiveRun, claimed: Claimed, prepared: PreparedStart): void {
	run.agent = prepared.agent === null ? null : enlistAgent(prepared.agent);
	try {
		describe(context, run, claimed, prepared);
	} catch (error) {
		launchFailed(context, run, `the run's folder could not be written: ${troubleOf(error)}`);
		return;
	}
	context.step?.("folder-made", run.id);
	handOver(context, run, prepared);
}

/** Enters the workspace first. If the run is stopped meanwhile, the stop makes the start marker, and nothing is started. */
function enter(context: SupervisorContext, run: LiveRun, claimed: Claimed, then: (place: EnteredWorkspace) => void): void {
	run.entering = true;
	const entered = (context.workspaces as Workspaces).enter(claimed, run.dir);
	entered
		.then((place) => {
			run.entering = false;
			run.launchedAt = context.clock.monotonic();
			if (context.closed || context.live.get(run.id) !== run || run.stage !== "launching") return;
			if ("refused" in place) launchFailed(context, run, place.refused, place.fault);
			else if (run.stop === null) then(place);
		})
		.catch((error) => context.log.error("a run could not be started", { run: run.id, error: troubleOf(error) }));
}

/**
 * Moves away a folder that is older than the run. An attempt is claimed only once, so the folder is of another store, for instance one that was deleted;
 * its markers would be taken for this run's.
 */
function setAside(context: SupervisorContext, run: LiveRun): void {
	const aside = `${run.dir}.before-${context.clock.now()}`;
	context.log.warn("a run's folder was there before the run; it is set aside", { run: run.id, aside });
	context.disk.move(run.dir, aside);
	context.disk.makeFolder(run.dir);
}

function describe({ disk, clock }: SupervisorContext, run: LiveRun, { job }: Claimed, prepared: PreparedStart): void {
	const account = {
		version: 1,
		run: run.id,
		argv: prepared.argv,
		env_names: Object.keys(prepared.env).sort(),
		cwd: prepared.cwd,
		...(job.agent === undefined ? {} : { agent: job.agent }),
		...(run.agent === null ? {} : { agent_run: recordOf(run.agent) }),
		...(prepared.results.length === 0 ? {} : { results: prepared.results }),
		mark: run.mark,
		token: run.secret,
		created_at: clock.now(),
	};
	disk.write(`${run.dir}/run.json`, `${JSON.stringify(account)}\n`);
	for (const [name, text] of prepared.files) disk.write(`${run.dir}/${name}`, text);
}

function handOver(context: SupervisorContext, run: LiveRun, { argv, cwd, env, stdin }: PreparedStart): void {
	expectStart(context, run);
	// The start was delayed so long that the lease may be over and another host may have the run. Treat it as handed over: if it is still ours, `isOverdue`
	// hands it over again.
	if (context.mayLaunch?.() === false) {
		context.log.warn("a run is not started: the lease of this host may be over", { run: run.id });
		return;
	}
	// Before the launch, so that the program's first output is noted too.
	context.order.begin(run.id, run.dir);
	const launch = { run: run.id, dir: run.dir, mark: run.mark, argv, cwd, env, ...(stdin === null ? {} : { stdin: `${run.dir}/${stdin}` }) };
	context.processes.launch(launch).then(
		() => context.step?.("launched", run.id),
		(error) => notHandedOver(context, run, error),
	);
}

/** Reports a failed launch only once the launcher can no longer start the run: makes the start marker first. */
function notHandedOver(context: SupervisorContext, run: LiveRun, error: unknown): void {
	if (run.stage !== "launching" || context.closed) return;
	let started = false;
	try {
		started = !context.processes.forbid(run.id, run.dir);
	} catch {
		// If this process cannot write the marker, the launcher cannot either.
	}
	if (started) see(context, run);
	else if (error instanceof SluiceError && error.code === "invalid") launchFailed(context, run, troubleOf(error), "job");
	else launchFailed(context, run, `it could not be handed to the launcher: ${troubleOf(error)}`);
}

/**
 * True if the run should be handed over again because nothing came of the last hand-over. It has no start marker, as after a crash; the marker keeps it
 * from starting twice.
 */
export function isOverdue(context: SupervisorContext, run: LiveRun, now: number): boolean {
	if (run.stage !== "launching" || run.entering || run.stop !== null || now - run.launchedAt <= RELAUNCH_MS) return false;
	context.log.warn("a run has not started", { run: run.id, handed_over: run.handOvers });
	if (run.handOvers >= HAND_OVERS) notHandedOver(context, run, new Error("nothing came of it"));
	else run.overdue = true;
	run.launchedAt = now;
	return run.overdue;
}

/**
 * Sets the run's time limits. The timeout counts from the claim, not counting time that the machine slept; `elapsedMs` of it have already passed for an
 * adopted run.
 */
export function setClocks(context: SupervisorContext, run: LiveRun, claimed: Claimed, elapsedMs: number): void {
	const { spec } = claimed;
	const { timeout_ms, stall_timeout_ms, agent_stall_timeout_ms } = context.settings();
	const now = context.clock.monotonic();
	run.timeoutMs = spec.timeout_ms ?? timeout_ms;
	if (run.timeoutMs !== null) {
		run.deadline = now + run.timeoutMs - elapsedMs;
		context.alarm.at(run.deadline);
	}
	// The default stall timeout applies only to agents whose output is read: of other programs Sluice cannot know whether they are at work.
	const agent = run.agent ?? agentOf(claimed, context.settings());
	const isRead = agent !== null && agent.output !== "command";
	const allowed = spec.stall_timeout_ms ?? stall_timeout_ms ?? (isRead ? agent_stall_timeout_ms : null);
	if (allowed !== null && allowed > 0) {
		run.silence = { allowed, since: now, heard: -1 };
		context.alarm.at(now + allowed);
	}
}
