// Starts a run: first its folder, then the launcher. The claim is durable, so the next pass can go on after a crash at any point here: without a start
// marker, the same attempt may be started.

import type { Claimed, ResultView } from "../../contracts/scheduler.ts";
import type { EnteredWorkspace } from "../../contracts/workspace.ts";
import { messageOf, SluiceError } from "../../core/errors.ts";
import { placesIn } from "../../core/recipes/after-result.ts";
import { agentOf, enlistAgent } from "../agent.ts";
import { expectStart, isOvertaken, type SupervisorContext } from "../context.ts";
import { launchFailed, see, withdraw } from "../end/end.ts";
import { enlist, folderOf, type LiveRun } from "../run.ts";
import { noteTold } from "../telling/given.ts";
import { type PreparedStart, prepare, type StartInput } from "./prepare.ts";
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
	if (run.stage.is === "launching") run.stage.handOvers += earlier?.handOvers ?? 0;
	context.live.add(run);
	setClocks(context, run, claimed, 0);
	try {
		if (context.disk.makeFolder(run.dir) === "there" && earlier === null) setAside(context, run);
	} catch (error) {
		launchFailed(context, run, `the run's folder could not be made: ${messageOf(error)}`);
		return run;
	}
	const ours = { socket: context.socket, home: context.home ?? null, tag: context.secret(TAG_BYTES) };
	const given = { run: run.id, dir: run.dir, token: run.secret, ...ours };
	prepareAndLaunch(context, run, claimed, given).catch((error) =>
		context.log.error("a run could not be started", { run: run.id, error: messageOf(error) }),
	);
	return run;
}

/**
 * Fetches what the run needs, step by step, then hands it to the launcher; in the same turn if it needs nothing. If the run is stopped meanwhile, the stop
 * makes the start marker, and nothing is started.
 */
async function prepareAndLaunch(context: SupervisorContext, run: LiveRun, claimed: Claimed, given: StartInput): Promise<void> {
	const { job, spec } = claimed;
	const settings = context.settings();
	const last = { job: run.job, attempt: run.attempt - 1 };
	if (context.bringPrior && last.attempt > 0 && context.disk.changedAt(folderOf(context, last.job, last.attempt)) === null) {
		const brought = await stepOf(context, run, context.bringPrior(last));
		if (brought === null || run.stop !== null) return;
	}
	// The gates checked item and pinned head some seconds ago. If the item was closed or put off since, or the head has moved, the job goes back to waiting,
	// and the attempt does not count as a failure.
	if (context.confirm && (job.item !== undefined || job.pinned_head !== undefined)) {
		const confirmed = await stepOf(context, run, context.confirm(job));
		if (confirmed === null) return;
		if (confirmed.value !== null) return withdraw(context, run, confirmed.value);
		if (run.stop !== null) return;
	}
	const results = placesIn(spec.prompt ?? "").length === 0 ? { value: [] } : await resultsFor(context, run);
	if (results === null || run.stop !== null) return;
	const prior = priorOf(context, run, job);
	const before = run.kind === "agent" ? beforeOf(context, run) : null;
	let place: EnteredWorkspace | null = null;
	if (run.housed && context.workspaces) {
		const entered = await stepOf(context, run, context.workspaces.enter(claimed, run.dir));
		if (entered === null) return;
		if ("refused" in entered.value) return launchFailed(context, run, entered.value.refused, entered.value.fault);
		if (run.stop !== null) return;
		place = entered.value;
	}
	const prepared = prepare(claimed, settings, given, { prior, before, results: results.value, place });
	if ("refused" in prepared) return launchFailed(context, run, prepared.refused, "job");
	const { versionProblem, argv, env, cwd } = prepared;
	if (versionProblem !== undefined && context.versionOf) {
		const program = await stepOf(context, run, context.versionOf(argv[0] as string, { env, cwd }));
		if (program === null || run.stop !== null) return;
		// Launch a missing program all the same: the launch fails with a clear message.
		const problem = program.value.there ? versionProblem(program.value.version) : null;
		if (problem !== null) return launchFailed(context, run, problem, "job");
	}
	launch(context, run, claimed, prepared);
}

/** Waits for a step of the preparation. Null if the run is over meanwhile, or belongs to another daemon. */
async function stepOf<T>(context: SupervisorContext, run: LiveRun, step: Promise<T>): Promise<{ value: T } | null> {
	const { stage } = run;
	if (stage.is !== "launching") return null;
	stage.isPreparing = true;
	const value = await step;
	stage.isPreparing = false;
	stage.handedOverAt = context.clock.monotonic();
	return isLaunching(context, run) ? { value } : null;
}

const isLaunching = (context: SupervisorContext, run: LiveRun): boolean =>
	!context.closed && context.live.get(run.id) === run && run.stage.is === "launching";

/** The predecessors' results for the prompt. */
async function resultsFor(context: SupervisorContext, run: LiveRun): Promise<{ value: ResultView[] } | null> {
	try {
		return await stepOf(context, run, context.scheduler.takeResults(run));
	} catch (error) {
		context.log.error("the results that a prompt asks for could not be read", { run: run.id, error: messageOf(error) });
		if (run.stage.is === "launching") run.stage.isPreparing = false;
		if (!isOvertaken(error) && isLaunching(context, run))
			launchFailed(context, run, `the results that its prompt asks for could not be read: ${messageOf(error)}`);
		return null;
	}
}

function launch(context: SupervisorContext, run: LiveRun, claimed: Claimed, prepared: PreparedStart): void {
	run.agent = prepared.agent === null ? null : enlistAgent(prepared.agent);
	run.inPrompt = prepared.told;
	noteTold(context, run, claimed.job);
	try {
		describe(context, run, claimed, prepared);
	} catch (error) {
		launchFailed(context, run, `the run's folder could not be written: ${messageOf(error)}`);
		return;
	}
	context.step?.("folder-made", run.id);
	handOver(context, run, prepared);
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
		...(prepared.agent === null ? {} : { agent_run: prepared.agent }),
		...(prepared.results.length === 0 ? {} : { results: prepared.results }),
		...(prepared.told.length === 0 ? {} : { told: prepared.told }),
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
	if (run.stage.is !== "launching" || context.closed) return;
	let started = false;
	try {
		started = !context.processes.forbid(run.id, run.dir);
	} catch {
		// If this process cannot write the marker, the launcher cannot either.
	}
	if (started) see(context, run);
	else if (error instanceof SluiceError && error.code === "invalid") launchFailed(context, run, messageOf(error), "job");
	else launchFailed(context, run, `it could not be handed to the launcher: ${messageOf(error)}`);
}

/**
 * True if the run should be handed over again because nothing came of the last hand-over. It has no start marker, as after a crash; the marker keeps it
 * from starting twice.
 */
export function isOverdue(context: SupervisorContext, run: LiveRun, now: number): boolean {
	const { stage } = run;
	if (stage.is !== "launching" || stage.isPreparing || run.stop !== null || now - stage.handedOverAt <= RELAUNCH_MS) return false;
	context.log.warn("a run has not started", { run: run.id, handed_over: stage.handOvers });
	if (stage.handOvers >= HAND_OVERS) notHandedOver(context, run, new Error("nothing came of it"));
	else stage.isOverdue = true;
	stage.handedOverAt = now;
	return stage.isOverdue;
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
