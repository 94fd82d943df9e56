// Turns what an agent wrote into the end of its run that is reported to the scheduler. If the run was stopped, the stop decides the exit kind; usage is
// charged all the same.
//
//   outcome              exit kind       besides
//   ok                   completed
//   needs_human          needs_human     the question
//   limited, throttled   rate_limited    until, retry_after
//   auth, billing        rate_limited    the account is closed
//   budget               cancelled
//   context              failed
//   transient, crashed   crashed         outage, where the provider is down
//   waited for a limit   rate_limited    until, retry_after; it was stopped because it waited
//   session is gone      lost            costs no retry: the next run starts afresh

import type { Disk } from "../../contracts/disk.ts";
import type { RunEnd } from "../../contracts/scheduler.ts";
import { hingesOnChange, type RunFindings } from "../../core/agents/closing.ts";
import { isBrokenOff } from "../../core/agents/continuing.ts";
import { ADAPTERS, isFormat, knownOf, profileOf } from "../../core/agents/index.ts";
import type { About } from "../../core/agents/judge.ts";
import { exitKindOf, type OwnJudgement } from "../../core/agents/own/outcomes.ts";
import { NOTHING, type Used } from "../../core/agents/stream/happening.ts";
import { countIn } from "../../core/agents/stream/json.ts";
import { notUnderstoodWords, type Program } from "../../core/agents/stream/not-understood.ts";
import type { Reading } from "../../core/agents/stream/reading.ts";
import { messageOf, orElse } from "../../core/errors.ts";
import { given } from "../../core/given.ts";
import { lastLine, oneLine, storable } from "../../core/input/storable.ts";
import { type AgentRun, judgeRun, readAll } from "../agent.ts";
import type { SupervisorContext } from "../context.ts";
import { folderOf, type LiveRun } from "../run.ts";
import { endingOf, type Over } from "./exit.ts";
import { sessionRecords } from "./session-records.ts";

/** Reasons come at the end of stderr, after stack traces that can be long. */
const STDERR_BYTES = 64 * 1024;

/** Judges the output of an agent's run; any other run is judged by its exit alone. Never rejects. */
export async function concluded(context: SupervisorContext, run: LiveRun, seen: Over): Promise<RunEnd> {
	const tail = tailOf(context, run, "stderr", STDERR_BYTES);
	const plain = endingOf(run, seen, () => lastLine(tail));
	const { agent } = run;
	if (agent === null) return plain;
	try {
		const read = await readAll(context, { dir: run.dir, agent });
		const code = seen.state === "exited" ? seen.code : 137;
		const exit = { code, signal: seen.state === "exited" ? seen.signal : "SIGKILL" };
		const known: About = {
			stderr: tail,
			now: context.clock.now(),
			timezone: context.settings().timezone,
			before: markOf(context, run, read.session ?? agent.session, agent),
			waited: agent.waited,
			job: run.job,
			program: programOf(context, agent, null),
		};
		const session = judgeRun(agent, read, exit, known).session ?? agent.session;
		const { reading, reset = null } = completed(context, run, agent, read, session, known.before);
		const about: About = { ...known, reset, circumstances: await circumstancesOf(context, run, agent, reading) };
		let found = judgeRun(agent, reading, exit, about);
		const isUnread = notUnderstoodWords(reading, undefined, undefined) !== null && (code === 0 || found.not_understood > 0);
		if (isUnread && found.version === null && found.outcome !== "ok") {
			const version = await versionOf(context, agent);
			found = judgeRun(agent, reading, exit, { ...about, program: programOf(context, agent, version) });
		}
		// The run did not resume a session, so a "session not found" message is about something else: do not start the job again because of it.
		if (agent.session === null) found = { ...found, session_gone: false };
		agent.judgement = found;
		const ending = endingFrom(context, run, agent, seen, plain, found, tail);
		const goesOn = isBrokenOff({ exit_kind: ending.exit_kind, outcome: found.outcome }) && !found.session_gone;
		return goesOn ? { ...ending, goes_on: true } : ending;
	} catch (error) {
		// The output cannot be read: judge the run by its exit.
		context.log.error("an agent's output could not be judged", { run: run.id, error: messageOf(error) });
		return plain;
	}
}

/** Completes what the run printed by the program's own record of the session. */
function completed(
	{ disk }: SupervisorContext,
	{ since }: LiveRun,
	{ output, home }: AgentRun,
	reading: Reading,
	session: string | null,
	before: Used | null,
): { reading: Reading; reset?: number | null } {
	const { record } = ADAPTERS[output];
	if (!record?.isWanted(reading)) return { reading };
	return record.complete(reading, sessionRecords(disk, record, home, session, since), since, before);
}

/** `changed` is looked up only if the outcome depends on whether the job has changed something. */
async function circumstancesOf(
	context: SupervisorContext,
	run: LiveRun,
	{ output, expect }: AgentRun,
	reading: Reading,
): Promise<RunFindings> {
	const isWell = output === "command" || reading.ended?.how === "well";
	const asks = isWell && hingesOnChange(reading, expect);
	return { expect, changed: asks ? ((await context.workspaces?.changed(run.job)) ?? null) : null };
}

function endingFrom(
	context: SupervisorContext,
	run: LiveRun,
	agent: AgentRun,
	seen: Over,
	plain: RunEnd,
	found: OwnJudgement,
	stderr: string,
): RunEnd {
	const reported = {
		...given({ session: found.session ?? undefined }),
		...(found.used.tokens === 0 && found.used.cost_micro === null ? {} : { usage: chargesOf(found.used) }),
		// Each line is a command of its own: keep the line breaks.
		denied: found.denied.map(storable),
	};
	const when = {
		// Ignore a reset that has already passed: one of the clocks or the message is wrong, and a hold that is over at once would let the next run hit the same
		// limit.
		...(found.until === null || found.until <= context.clock.now()
			? {}
			: { until: found.until, ...given({ until_assumed: found.until_assumed ?? undefined }) }),
		...given({ retry_after_ms: found.retry_after_ms ?? undefined }),
	};
	if (run.stop?.kind === "rate_limited") return { ...plain, ...reported, ...when, ...closedBy(found) };
	if (run.stop?.kind === "crashed") return { ...plain, ...reported, ...(found.outage ? { outage: true } : {}) };
	if (run.stop !== null || seen.state === "gone") return { ...plain, ...reported };
	if (seen.launch_failed !== null) {
		const profile = profileOf(agent.name, context.settings().agents);
		const known = profile && knownOf(profile);
		return known ? { ...plain, message: oneLine(`${plain.message}; install it: ${known.install}`) } : plain;
	}
	if (agent.output === "command" && found.rule === null && found.outcome !== "needs_human") return { ...plain, ...reported };
	const message = found.message === null ? {} : { message: oneLine(found.message) };
	const at = { job: run.job, token: run.token, exit_code: seen.code, ...reported };
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

/** The last line of stderr usually has nothing to do with a kill; a fatal error that it reports does. */
function killedBy(signal: string | null, stderr: string): string | null {
	if (signal === null) return null;
	const faults = stderr
		.split(/[\r\n]+/)
		.filter((line) => /\b(?:fatal|panic\w*|segmentation fault|out of memory|abort(?:ed|ing)|core dumped)\b/i.test(line));
	const fault = faults.at(-1);
	return fault === undefined ? `killed by ${signal}` : `killed by ${signal}: ${fault.trim()}`;
}

/** The provider refuses a bad login or an unpaid account whether or not the program was stopped while it retried. */
const closedBy = ({ outcome, message }: OwnJudgement) =>
	outcome === "auth" || outcome === "billing" ? { closed: oneLine(`${outcome}: ${message ?? "refused"}`) } : {};

/** Name and versions of the program, for a message about output that was not understood. */
function programOf(context: SupervisorContext, agent: AgentRun, version: string | null): Program {
	const profile = profileOf(agent.name, context.settings().agents);
	return { name: agent.name, version, tested: (profile && knownOf(profile)?.tested) ?? null };
}

/** Asks only known agent programs for their version: an unknown program may take the option for something else. */
async function versionOf(context: SupervisorContext, { program }: AgentRun): Promise<string | null> {
	if (!context.versionOf || program === null || !isFormat(program.name.split("/").at(-1) ?? "")) return null;
	const found = await context.versionOf(program.name, { env: { ...context.settings().env, PATH: program.path }, cwd: "/" });
	return found.there ? found.version : null;
}

const chargesOf = ({ tokens, cost_micro }: Used): Record<string, number> => ({
	tokens: countIn(tokens),
	...(cost_micro === null ? {} : { cost_micro: countIn(cost_micro) }),
});

export function tailOf({ disk }: SupervisorContext, { dir }: { dir: string }, stream: "stdout" | "stderr", bytes: number): string {
	const path = `${dir}/${stream}.log`;
	const size = disk.size(path) ?? 0;
	const text = disk.readAt(path, Math.max(0, size - bytes), bytes);
	// Skip the bytes of a character that the cut went through.
	const first = text.findIndex((byte) => byte < 0x80 || byte >= 0xc0);
	const tail = new TextDecoder().decode(text.subarray(Math.max(0, first)));
	// Skip the rest of a line that the cut went through: it would look like a line of its own.
	const whole = size > bytes ? tail.slice(tail.indexOf("\n") + 1) : tail;
	return whole.trim() === "" ? tail : whole;
}

/** What the session had used before this run, by the outcome.json of the last run that recorded it; null if none did. */
function markOf(context: SupervisorContext, run: LiveRun, session: string | null, agent: AgentRun): Used | null {
	if (session === null || session !== agent.session) return NOTHING;
	for (let attempt = run.attempt - 1; attempt > 0; attempt--) {
		const { session: earlier, session_total } = accountIn(context, folderOf(context, run.job, attempt)) ?? {};
		if (earlier === session && typeof session_total === "object" && session_total !== null) return { ...NOTHING, ...session_total };
	}
	return null;
}

/** A run's outcome.json; null if it is absent or cannot be read. */
export function accountIn({ disk }: Pick<SupervisorContext, "disk">, dir: string): Record<string, unknown> | null {
	const found = jsonIn(disk, `${dir}/outcome.json`);
	return typeof found === "object" ? (found as Record<string, unknown> | null) : null;
}

/** Null if the file is absent, or is not JSON. */
export const jsonIn = (disk: Pick<Disk, "read">, path: string): unknown => orElse(() => JSON.parse(disk.read(path) ?? "null"), null);

const withoutNulls = (fields: Record<string, unknown>) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

/** The fields that outcome.json has only for runs of agents. */
export function accountOf(agent: AgentRun | null): Record<string, unknown> {
	if (agent === null || agent.judgement === null) return {};
	const { outcome, session, session_gone, outage, used, total, until, until_assumed, retry_after_ms, message, question } = agent.judgement;
	const { denied, closing_question, not_understood, version, rule } = agent.judgement;
	return {
		agent: agent.name,
		account: agent.account,
		outcome,
		// A run that was cut off before it reported its session had resumed this one all the same.
		session: session ?? (session_gone ? null : agent.session),
		...(session_gone ? { session_gone } : {}),
		...(outage ? { outage } : {}),
		usage: used,
		...withoutNulls({ session_total: total, until, until_assumed, retry_after_ms, last_message: message, question }),
		...(not_understood === 0 ? {} : { not_understood }),
		...withoutNulls({ agent_version: version, by: rule === null ? null : `agents.${agent.name}.outcomes[${rule}]`, closing_question }),
		...(denied.length === 0 ? {} : { denied }),
	};
}
