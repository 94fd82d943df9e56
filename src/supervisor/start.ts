// Starting a run: its folder first, then the launcher. The claim that brought it is durable, so a crash at any point here leaves something that the
// next pass can go on with: no start marker means that this same attempt may be started.

import { placesIn } from "../core/after-result.ts";
import { SluiceError } from "../core/errors.ts";
import { troubleOf } from "../disk.ts";
import type { Claimed, ResultView } from "../scheduler.ts";
import type { Place, Workspaces } from "../workspace.ts";
import { agentOf, enlistAgent, recordOf } from "./agent.ts";
import { launchFailed, see, withdraw } from "./end.ts";
import { expectStart, type Floor, isOvertaken, type ProgramFound, remember } from "./floor.ts";
import { type Prepared, prepare } from "./prepare.ts";
import { beforeOf, priorOf } from "./prior.ts";
import { enlist, folderOf, type LiveRun } from "./run.ts";

/** A hand-over that nothing has come of: the launcher died with it in hand, or the disk refuses the marker. */
const RELAUNCH_MS = 10_000;
const HAND_OVERS = 3;
const SECRET_BYTES = 18;
const TAG_BYTES = 9;

/** `earlier`: what is known of a hand-over of the same attempt that may still be under way. */
export function startRun(floor: Floor, claimed: Claimed, earlier: { secret: string | null; handOvers: number } | null = null): LiveRun {
	const now = floor.clock.monotonic();
	const run = enlist(claimed, floor, now);
	floor.step?.("claimed", run.id);
	run.secret = earlier?.secret ?? floor.secret(SECRET_BYTES);
	run.handOvers = (earlier?.handOvers ?? 0) + 1;
	remember(floor, run);
	setClocks(floor, run, claimed, 0);
	const settings = floor.settings();
	const ours = { socket: floor.socket, home: floor.home ?? null, tag: floor.secret(TAG_BYTES) };
	const given = { run: run.id, dir: run.dir, token: run.secret, ...ours };
	try {
		if (floor.disk.makeFolder(run.dir) === "there" && earlier === null) setAside(floor, run);
	} catch (error) {
		launchFailed(floor, run, `the run's folder could not be made: ${troubleOf(error)}`);
		return run;
	}
	const prepared = (results: ResultView[]) => {
		const prior = priorOf(floor, run, claimed.job);
		const before = run.kind === "agent" ? beforeOf(floor, run) : null;
		const known = { prior, before, results };
		if (run.housed && floor.workspaces)
			enter(floor, run, claimed, (place) => go(floor, run, claimed, prepare(claimed, settings, given, { ...known, place })));
		else go(floor, run, claimed, prepare(claimed, settings, given, known));
	};
	const asksForResults = placesIn(claimed.spec.prompt ?? "").length > 0;
	const begin = () => (asksForResults ? withResults(floor, run, prepared) : prepared([]));
	const { job } = claimed;
	const isSettled = job.item === undefined && job.pinned_head === undefined;
	const confirmed = () => (isSettled || !floor.confirm ? begin() : whenConfirmed(floor, run, floor.confirm(job), begin));
	const last = { job: run.job, attempt: run.attempt - 1 };
	if (floor.bringPrior && last.attempt > 0 && floor.disk.changedAt(folderOf(floor, last.job, last.attempt)) === null)
		whenBrought(floor, run, floor.bringPrior(last), confirmed);
	else confirmed();
	return run;
}

/** As with the workspace below: whoever stops the run meanwhile makes its start marker, and nothing is started. */
function whenBrought(floor: Floor, run: LiveRun, bringing: Promise<void>, begin: () => void): void {
	run.entering = true;
	bringing
		.then(() => {
			run.entering = false;
			run.launchedAt = floor.clock.monotonic();
			if (!floor.closed && floor.live.get(run.id) === run && run.stage === "launching" && run.stop === null) begin();
		})
		.catch((error) => floor.log.error("a run could not be started", { run: run.id, error: troubleOf(error) }));
}

/** What the jobs before it have reported, for its prompt. */
function withResults(floor: Floor, run: LiveRun, then: (results: ResultView[]) => void): void {
	run.entering = true;
	floor.scheduler
		.takeResults(run)
		.then((results) => {
			run.entering = false;
			run.launchedAt = floor.clock.monotonic();
			if (!floor.closed && floor.live.get(run.id) === run && run.stage === "launching" && run.stop === null) then(results);
		})
		.catch((error) => {
			floor.log.error("the results that a prompt asks for could not be read", { run: run.id, error: troubleOf(error) });
			run.entering = false;
			if (!floor.closed && !isOvertaken(error) && floor.live.get(run.id) === run && run.stage === "launching")
				launchFailed(floor, run, `the results that its prompt asks for could not be read: ${troubleOf(error)}`);
		});
}

/** The gates have looked some seconds ago. A job whose item was closed or put off since, or whose pinned head has moved, goes back to wait, and nothing is counted. */
function whenConfirmed(floor: Floor, run: LiveRun, confirming: Promise<string | null>, begin: () => void): void {
	run.entering = true;
	confirming
		.then((refused) => {
			run.entering = false;
			run.launchedAt = floor.clock.monotonic();
			if (floor.closed || floor.live.get(run.id) !== run || run.stage !== "launching") return;
			if (refused !== null) withdraw(floor, run, refused);
			else if (run.stop === null) begin();
		})
		.catch((error) => floor.log.error("a run could not be started", { run: run.id, error: troubleOf(error) }));
}

function go(floor: Floor, run: LiveRun, claimed: Claimed, prepared: Prepared | { refused: string }): void {
	if ("refused" in prepared) {
		launchFailed(floor, run, prepared.refused, "job");
		return;
	}
	const { versionProblem, argv, env, cwd } = prepared;
	if (versionProblem === undefined || !floor.versionOf) launch(floor, run, claimed, prepared);
	else
		whenFound(floor, run, floor.versionOf(argv[0] as string, { env, cwd }), (program) => {
			// A program that is not there fails to start, in words of its own.
			const problem = program.there ? versionProblem(program.version) : null;
			if (problem === null) launch(floor, run, claimed, prepared);
			else launchFailed(floor, run, problem, "job");
		});
}

/** As with the workspace above: a stop that comes meanwhile makes the start marker, and nothing is started. */
function whenFound(floor: Floor, run: LiveRun, finding: Promise<ProgramFound>, then: (program: ProgramFound) => void): void {
	run.entering = true;
	finding
		.then((program) => {
			run.entering = false;
			run.launchedAt = floor.clock.monotonic();
			if (!floor.closed && floor.live.get(run.id) === run && run.stage === "launching" && run.stop === null) then(program);
		})
		.catch((error) => floor.log.error("a run could not be started", { run: run.id, error: troubleOf(error) }));
}

function launch(floor: Floor, run: LiveRun, claimed: Claimed, prepared: Prepared): void {
	run.agent = prepared.agent === null ? null : enlistAgent(prepared.agent);
	try {
		describe(floor, run, claimed, prepared);
	} catch (error) {
		launchFailed(floor, run, `the run's folder could not be written: ${troubleOf(error)}`);
		return;
	}
	floor.step?.("folder-made", run.id);
	handOver(floor, run, prepared);
}

/** The workspace first. Whoever stops the run meanwhile makes its start marker, and nothing is started. */
function enter(floor: Floor, run: LiveRun, claimed: Claimed, then: (place: Place) => void): void {
	run.entering = true;
	const entered = (floor.workspaces as Workspaces).enter(claimed, run.dir);
	entered
		.then((place) => {
			run.entering = false;
			run.launchedAt = floor.clock.monotonic();
			if (floor.closed || floor.live.get(run.id) !== run || run.stage !== "launching") return;
			if ("refused" in place) launchFailed(floor, run, place.refused, place.fault);
			else if (run.stop === null) then(place);
		})
		.catch((error) => floor.log.error("a run could not be started", { run: run.id, error: troubleOf(error) }));
}

/** An attempt is claimed once, so this folder is of another time: of a store that was deleted, say. Its markers would speak for this run. */
function setAside(floor: Floor, run: LiveRun): void {
	const aside = `${run.dir}.before-${floor.clock.now()}`;
	floor.log.warn("a run's folder was there before the run; it is set aside", { run: run.id, aside });
	floor.disk.move(run.dir, aside);
	floor.disk.makeFolder(run.dir);
}

function describe({ disk, clock }: Floor, run: LiveRun, { job }: Claimed, prepared: Prepared): void {
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

function handOver(floor: Floor, run: LiveRun, { argv, cwd, env, stdin }: Prepared): void {
	expectStart(floor, run);
	// Held up for so long that the run may be somebody else's: it counts as handed over, and is looked at again like one that nothing came of.
	if (floor.mayLaunch?.() === false) {
		floor.log.warn("a run is not started: the lease of this host may be over", { run: run.id });
		return;
	}
	// Before the program can write: what it writes first is noted too.
	floor.order.begin(run.id, run.dir);
	const launch = { run: run.id, dir: run.dir, mark: run.mark, argv, cwd, env, ...(stdin === null ? {} : { stdin: `${run.dir}/${stdin}` }) };
	floor.processes.launch(launch).then(
		() => floor.step?.("launched", run.id),
		(error) => notHandedOver(floor, run, error),
	);
}

/** Only when nobody can start it any more does it count as not launched. */
function notHandedOver(floor: Floor, run: LiveRun, error: unknown): void {
	if (run.stage !== "launching" || floor.closed) return;
	let started = false;
	try {
		started = !floor.processes.forbid(run.id, run.dir);
	} catch {
		// A folder that refuses the marker to us refuses it to everybody.
	}
	if (started) see(floor, run);
	else if (error instanceof SluiceError && error.code === "invalid") launchFailed(floor, run, troubleOf(error), "job");
	else launchFailed(floor, run, `it could not be handed to the launcher: ${troubleOf(error)}`);
}

/** As after a crash: no marker, so the same attempt may be handed over again; the marker keeps it from starting twice. True when that is due. */
export function isOverdue(floor: Floor, run: LiveRun, now: number): boolean {
	if (run.stage !== "launching" || run.entering || run.stop !== null || now - run.launchedAt <= RELAUNCH_MS) return false;
	floor.log.warn("a run has not started", { run: run.id, handed_over: run.handOvers });
	if (run.handOvers >= HAND_OVERS) notHandedOver(floor, run, new Error("nothing came of it"));
	else run.overdue = true;
	run.launchedAt = now;
	return run.overdue;
}

/** Total time awake counts from the claim; for an adopted run `elapsedMs` of it are gone already. */
export function setClocks(floor: Floor, run: LiveRun, claimed: Claimed, elapsedMs: number): void {
	const { spec } = claimed;
	const { timeout_ms, stall_timeout_ms, agent_stall_timeout_ms } = floor.settings();
	const now = floor.clock.monotonic();
	run.timeoutMs = spec.timeout_ms ?? timeout_ms;
	if (run.timeoutMs !== null) {
		run.deadline = now + run.timeoutMs - elapsedMs;
		floor.alarm.at(run.deadline);
	}
	// Sluice does not read the output of such a program, so it cannot tell whether the program is at work.
	const agent = run.agent ?? agentOf(claimed, floor.settings());
	const isRead = agent !== null && agent.output !== "command";
	const allowed = spec.stall_timeout_ms ?? stall_timeout_ms ?? (isRead ? agent_stall_timeout_ms : null);
	if (allowed !== null && allowed > 0) {
		run.silence = { allowed, since: now, heard: -1 };
		floor.alarm.at(now + allowed);
	}
}
