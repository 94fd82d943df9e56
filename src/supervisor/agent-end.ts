// The end of an agent's run: what it wrote, judged, as the scheduler is told it. A stop that was asked for decides what the end is called, not what it cost.
//
//   outcome              exit kind       besides
//   ok                   completed
//   needs_human          needs_human     the question
//   limited, throttled   rate_limited    until, retry_after
//   auth, billing        rate_limited    the account is closed
//   budget               cancelled
//   context              failed
//   transient, crashed   crashed         outage, where the provider is down
//   waited for a limit   rate_limited    as limited, throttled: it was stopped for that
//   session is gone      lost            burns nothing: the next run starts afresh

import { callsInTranscript, withRecordedCalls } from "../core/agents/claude-transcript.ts";
import { type Circumstances, hingesOnChange } from "../core/agents/closing.ts";
import { deniedInRollout, resetInRollout, usedInRollout, withRollout } from "../core/agents/codex-rollout.ts";
import { isBrokenOff } from "../core/agents/continuing.ts";
import { usedInGeminiRecords, withGeminiRecords } from "../core/agents/gemini-record.ts";
import { NOTHING, type Used } from "../core/agents/happening.ts";
import { isFormat, knownOf, profileOf } from "../core/agents/index.ts";
import { countIn } from "../core/agents/json.ts";
import type { About } from "../core/agents/judge.ts";
import { notUnderstoodWords, type Program } from "../core/agents/not-understood.ts";
import { exitKindOf, type OwnJudgement } from "../core/agents/own/outcomes.ts";
import { type Reading, unique } from "../core/agents/reading.ts";
import { troubleOf } from "../disk.ts";
import type { Ending } from "../scheduler.ts";
import { type AgentRun, judgeRun, readAll } from "./agent.ts";
import { endingOf, lastLine, type Over, oneLine, storable } from "./exit.ts";
import type { Floor } from "./floor.ts";
import { folderOf, type LiveRun } from "./run.ts";
import { claudeRecords, codexRecord, geminiRecords } from "./session-records.ts";

/** Reasons stand at the end; stack traces before them are long. */
const STDERR_BYTES = 64 * 1024;

/** `agentEnding` for a run of an agent; the exit alone for any other. Never rejects. */
export async function concluded(floor: Floor, run: LiveRun, seen: Over): Promise<Ending> {
	const tail = tailOf(floor, run, "stderr", STDERR_BYTES);
	const plain = endingOf(run, seen, () => lastLine(tail.slice(-4096)));
	const { agent } = run;
	if (agent === null) return plain;
	try {
		let reading = await readAll(floor, { dir: run.dir, agent });
		if (agent.output === "codex") {
			const refused = deniedInRollout(codexRecord(floor.disk, agent.home, reading.session ?? agent.session));
			if (refused.length > 0) reading = { ...reading, denied: unique([...reading.denied, ...refused]) };
		}
		const code = seen.state === "exited" ? seen.code : 137;
		const settings = floor.settings();
		const about: About = {
			stderr: tail,
			now: floor.clock.now(),
			timezone: settings.timezone,
			before: markOf(floor, run, reading.session ?? agent.session, agent),
			waited: agent.waited,
			job: run.job,
			program: programOf(floor, agent, null),
			circumstances: await circumstancesOf(floor, run, agent, reading),
		};
		const exit = { code, signal: seen.state === "exited" ? seen.signal : "SIGKILL" };
		let found = judgeRun(agent, reading, exit, about);
		if (agent.output === "codex" && (found.outcome === "limited" || reading.total === null)) {
			const record = codexRecord(floor.disk, agent.home, found.session ?? agent.session);
			// A turn that was broken off tells nothing of what it used.
			if (reading.total === null) reading = withRollout(reading, usedInRollout(record, run.since, about.before));
			const reset = found.outcome === "limited" ? resetInRollout(record) : null;
			found = judgeRun(agent, reading, exit, { ...about, reset });
		}
		if (agent.output === "claude" && (reading.total === null || reading.calls.latest.size > 0)) {
			const records = claudeRecords(floor.disk, agent.home, found.session ?? agent.session, run.since);
			reading = withRecordedCalls(reading, callsInTranscript(records, run.since));
			found = judgeRun(agent, reading, exit, about);
		}
		if (agent.output === "gemini" && reading.total === null) {
			const records = geminiRecords(floor.disk, agent.home, found.session ?? agent.session, run.since);
			reading = withGeminiRecords(reading, usedInGeminiRecords(records, run.since));
			found = judgeRun(agent, reading, exit, about);
		}
		const isUnread = notUnderstoodWords(reading, undefined, undefined) !== null && (code === 0 || found.not_understood > 0);
		if (isUnread && found.version === null && found.outcome !== "ok") {
			const version = await versionOf(floor, agent);
			found = judgeRun(agent, reading, exit, { ...about, program: programOf(floor, agent, version) });
		}
		// Words about a session that is not there, where none was to go on: somebody else's, and no reason to start again for nothing.
		if (agent.session === null) found = { ...found, session_gone: false };
		agent.judgement = found;
		const ending = endingFrom(floor, run, agent, seen, plain, found, tail);
		const goesOn = isBrokenOff({ exit_kind: ending.exit_kind, outcome: found.outcome }) && !found.session_gone;
		return goesOn ? { ...ending, goes_on: true } : ending;
	} catch (error) {
		// What it wrote cannot be read: its exit still counts.
		floor.log.error("an agent's output could not be judged", { run: run.id, error: troubleOf(error) });
		return plain;
	}
}

/** Whether the job has changed something is looked up only where its outcome hangs on that. */
async function circumstancesOf(floor: Floor, run: LiveRun, { output, expect }: AgentRun, reading: Reading): Promise<Circumstances> {
	const isWell = output === "command" || reading.ended?.how === "well";
	const asks = isWell && hingesOnChange(reading, expect);
	return { expect, changed: asks ? ((await floor.workspaces?.changed(run.job)) ?? null) : null };
}

function endingFrom(floor: Floor, run: LiveRun, agent: AgentRun, seen: Over, plain: Ending, found: OwnJudgement, stderr: string): Ending {
	const told = {
		...(found.session === null ? {} : { session: found.session }),
		...(found.used.tokens === 0 && found.used.cost_micro === null ? {} : { usage: chargesOf(found.used) }),
		// Two lines are two commands: they stay apart.
		denied: found.denied.map(storable),
	};
	const when = {
		// One of the clocks is wrong, or the words were: a hold that is over already would let it run into the same wall at once.
		...(found.until === null || found.until <= floor.clock.now() ? {} : { until: found.until, ...assumedOf(found) }),
		...(found.retry_after_ms === null ? {} : { retry_after_ms: found.retry_after_ms }),
	};
	if (run.stop?.kind === "rate_limited") return { ...plain, ...told, ...when, ...closedBy(found) };
	if (run.stop?.kind === "crashed") return { ...plain, ...told, ...(found.outage ? { outage: true } : {}) };
	if (run.stop !== null || seen.state === "gone") return { ...plain, ...told };
	if (seen.launch_failed !== null) {
		const profile = profileOf(agent.name, floor.settings().agents);
		const known = profile && knownOf(profile);
		return known ? { ...plain, message: oneLine(`${plain.message}; install it: ${known.install}`) } : plain;
	}
	if (agent.output === "command" && found.rule === null && found.outcome !== "needs_human") return { ...plain, ...told };
	const message = found.message === null ? {} : { message: oneLine(found.message) };
	const at = { job: run.job, token: run.token, exit_code: seen.code, ...told };
	if (found.session_gone)
		return {
			...at,
			exit_kind: "lost",
			reboot: true,
			message: oneLine(`its session is gone, the next run starts afresh: ${found.message}`),
		};
	const exit_kind = exitKindOf(agent.output, found);
	switch (found.outcome) {
		case "ok":
			return { ...at, exit_kind, ...(found.closing_question === null ? {} : { closing_question: storable(found.closing_question) }) };
		case "needs_human":
			return { ...at, exit_kind, ...message, question: storable(found.question ?? "the agent asks for a person") };
		case "limited":
		case "throttled":
			return { ...at, exit_kind, ...message, ...when };
		case "auth":
		case "billing":
			return { ...at, exit_kind, ...message, closed: oneLine(`${found.outcome}: ${found.message ?? "refused"}`) };
		case "budget":
			return { ...at, exit_kind, message: oneLine(`budget: ${found.message ?? "used up"}`) };
		case "killed":
			return { ...at, exit_kind, message: oneLine(killedBy(seen.signal, stderr) ?? found.message ?? "it was killed") };
		case "context":
		case "transient":
		case "crashed": {
			const why = oneLine(`${found.outcome}: ${found.message ?? `exit code ${seen.code}`}`);
			return { ...at, exit_kind, message: why, ...(found.outage ? { outage: true } : {}) };
		}
		default:
			return found.outcome satisfies never;
	}
}

/** What it wrote last has as a rule nothing to do with its being killed; a fault that it has told of has. */
function killedBy(signal: string | null, stderr: string): string | null {
	if (signal === null) return null;
	const faults = stderr
		.split(/[\r\n]+/)
		.filter((line) => /\b(?:fatal|panic\w*|segmentation fault|out of memory|abort(?:ed|ing)|core dumped)\b/i.test(line));
	const fault = faults.at(-1);
	return fault === undefined ? `killed by ${signal}` : `killed by ${signal}: ${fault.trim()}`;
}

/** A login or an account without money is refused whether or not the program was stopped for trying on. */
const closedBy = ({ outcome, message }: OwnJudgement) =>
	outcome === "auth" || outcome === "billing" ? { closed: oneLine(`${outcome}: ${message ?? "refused"}`) } : {};

const assumedOf = ({ until_assumed }: OwnJudgement) => (until_assumed === null ? {} : { until_assumed });
/** Said where its output was not understood. */
function programOf(floor: Floor, agent: AgentRun, version: string | null): Program {
	const profile = profileOf(agent.name, floor.settings().agents);
	return { name: agent.name, version, tested: (profile && knownOf(profile)?.tested) ?? null };
}

/** Asked only of a program that is known to tell: of others nothing says what they make of an option. */
async function versionOf(floor: Floor, { program }: AgentRun): Promise<string | null> {
	if (!floor.versionOf || program === null || !isFormat(program.name.split("/").at(-1) ?? "")) return null;
	const found = await floor.versionOf(program.name, { env: { ...floor.settings().env, PATH: program.path }, cwd: "/" });
	return found.there ? found.version : null;
}

const chargesOf = ({ tokens, cost_micro }: Used): Record<string, number> => ({
	tokens: countIn(tokens),
	...(cost_micro === null ? {} : { cost_micro: countIn(cost_micro) }),
});

export function tailOf({ disk }: Floor, { dir }: { dir: string }, stream: "stdout" | "stderr", bytes: number): string {
	const path = `${dir}/${stream}.log`;
	const size = disk.size(path) ?? 0;
	const text = disk.readAt(path, Math.max(0, size - bytes), bytes);
	// A letter that the cut went through is no letter.
	const first = text.findIndex((byte) => byte < 0x80 || byte >= 0xc0);
	return new TextDecoder().decode(text.subarray(Math.max(0, first)));
}

/** What the session had used before this run: the account of the last run that told of it. */
function markOf(floor: Floor, run: LiveRun, session: string | null, agent: AgentRun): Used | null {
	if (session === null || session !== agent.session) return NOTHING;
	for (let attempt = run.attempt - 1; attempt > 0; attempt--) {
		const { session: earlier, session_total } = accountIn(floor, folderOf(floor, run.job, attempt)) ?? {};
		if (earlier === session && typeof session_total === "object" && session_total !== null) return { ...NOTHING, ...session_total };
	}
	return null;
}

/** A run's outcome.json, or null. */
export function accountIn({ disk }: Pick<Floor, "disk">, dir: string): Record<string, unknown> | null {
	try {
		const found: unknown = JSON.parse(disk.read(`${dir}/outcome.json`) ?? "null");
		return typeof found === "object" ? (found as Record<string, unknown> | null) : null;
	} catch {
		return null;
	}
}

/** What outcome.json says of an agent's run, beside what it says of any. */
export function accountOf(agent: AgentRun | null): Record<string, unknown> {
	if (agent === null || agent.judgement === null) return {};
	const { outcome, session, session_gone, outage, used, total, until, until_assumed, retry_after_ms, message, question } = agent.judgement;
	const { denied, closing_question, not_understood, version, rule } = agent.judgement;
	return {
		agent: agent.name,
		account: agent.account,
		outcome,
		// One that was cut off before it could say so went on with it all the same.
		session: session ?? (session_gone ? null : agent.session),
		...(session_gone ? { session_gone } : {}),
		...(outage ? { outage } : {}),
		usage: used,
		...(total === null ? {} : { session_total: total }),
		...(until === null ? {} : { until }),
		...(until_assumed === null ? {} : { until_assumed }),
		...(retry_after_ms === null ? {} : { retry_after_ms }),
		...(message === null ? {} : { last_message: message }),
		...(question === null ? {} : { question }),
		...(not_understood === 0 ? {} : { not_understood }),
		...(version === null ? {} : { agent_version: version }),
		...(rule === null ? {} : { by: `agents.${agent.name}.outcomes[${rule}]` }),
		...(closing_question === null ? {} : { closing_question }),
		...(denied.length === 0 ? {} : { denied }),
	};
}
