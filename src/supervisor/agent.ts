// The agent of a live run: the profile that it was started with, and what has been read of its output so far.

import type { Claimed } from "../contracts/scheduler.ts";
import { EXPECTS, type Expect, expectedNow } from "../core/agents/closing.ts";
import { ADAPTERS, isFormat, profileOf } from "../core/agents/index.ts";
import { type About, type Exit, judge } from "../core/agents/judge.ts";
import { readOwn } from "../core/agents/own/outcome-input.ts";
import { createWatch, type OwnJudgement, type OwnReading, type Watch } from "../core/agents/own/outcomes.ts";
import type { Format, Profile } from "../core/agents/profile.ts";
import type { Trouble } from "../core/agents/stream/happening.ts";
import { createReader, type Reading, type StreamReader } from "../core/agents/stream/reading.ts";
import { orElse } from "../core/errors.ts";
import type { SupervisorContext } from "./context.ts";
import type { SupervisorSettings } from "./settings.ts";

/** What run.json says about the agent, so that a later daemon reads the output with the settings that the run was started with. */
export type RunAgentRecord = {
	readonly name: string;
	readonly output: Format;
	readonly stop_signal: Profile["stop_signal"];
	/** The folder of its login and its sessions; null if unknown. */
	readonly home: string | null;
	/** The session that the run resumes. */
	readonly session: string | null;
	readonly account: string | null;
	/** The configuration's rules for its output, as they were when it was started. */
	readonly own: OwnReading;
	/** The program and the PATH that it was looked up in; used to ask for its version. */
	readonly program: { name: string; path: string } | null;
	readonly expect: Expect;
	/** Its session can go on in another run. Absent in records of earlier versions. */
	readonly resumes?: boolean;
};

export type AgentRun = RunAgentRecord & {
	readonly reader: StreamReader;
	/** Null if the configuration has no rules for its output. */
	readonly watch: Watch | null;
	/** Bytes of stdout read so far. */
	offset: number;
	/** Monotonic milliseconds since when the agent has been waiting for a limit to end. */
	waitsSince: number | null;
	/** What the agent was waiting for when it was stopped because of that. */
	waited: Trouble | null;
	/** How the run ended; null until its program is gone. */
	judgement: OwnJudgement | null;
};

export const enlistAgent = (record: RunAgentRecord): AgentRun => ({
	...record,
	reader: createReader(record.output),
	watch: Object.keys(record.own).length > 0 ? createWatch(record.own) : null,
	offset: 0,
	waitsSince: null,
	waited: null,
	judgement: null,
});

/** From run.json; null if it is absent or was written by a version without this field. */
export function recordIn(json: unknown): RunAgentRecord | null {
	const { agent_run: found } = (json ?? {}) as { agent_run?: unknown };
	if (typeof found !== "object" || found === null) return null;
	const { name, output, stop_signal, home, session, account, own, program, expect, resumes } = found as Record<string, unknown>;
	if (typeof name !== "string" || typeof output !== "string" || !isFormat(output)) return null;
	const orNull = (value: unknown) => (typeof value === "string" ? value : null);
	return {
		name,
		output,
		stop_signal: stop_signal === "SIGTERM" ? "SIGTERM" : "SIGINT",
		home: orNull(home),
		session: orNull(session),
		account: orNull(account),
		own: ownIn(own),
		program: programIn(program),
		expect: EXPECTS.find((one) => one === expect) ?? "any",
		resumes: resumes === true,
	};
}

/** Rules that this version cannot read (another version wrote them) count as none. */
const ownIn = (found: unknown): OwnReading => orElse(() => readOwn(found ?? {}, "own"), {});

function programIn(found: unknown): RunAgentRecord["program"] {
	const { name, path } = (found ?? {}) as Record<string, unknown>;
	return typeof name === "string" && typeof path === "string" ? { name, path } : null;
}

/** The agent of a claimed job according to the current settings; null for a command. */
export function agentOf({ job, spec, run }: Claimed, settings: SupervisorSettings): RunAgentRecord | null {
	if (job.kind !== "agent") return null;
	const name = job.agent ?? "";
	const profile = profileOf(name, settings.agents);
	return {
		name,
		output: profile?.output ?? "command",
		stop_signal: profile?.stop_signal ?? "SIGINT",
		home: null,
		session: null,
		account: run.account ?? null,
		own: ownOf(profile),
		program: null,
		expect: expectedNow(spec.expect, job.asked),
		// Mode `ralph` starts each run with a fresh context.
		resumes: (profile?.resume.length ?? 0) > 0 && profile?.output !== "command" && spec.mode !== "ralph",
	};
}

const ownOf = (profile: Profile | null): OwnReading => {
	const { outcomes, usage, session } = profile ?? {};
	return { ...(outcomes && { outcomes }), ...(usage && { usage }), ...(session === undefined ? {} : { session }) };
};

/** The folder that a program with this environment keeps its login and sessions in. */
export function homeOf(profile: Profile, env: Record<string, string>): string | null {
	const named = profile.home_variable === null ? undefined : env[profile.home_variable];
	if (named !== undefined && named !== "") return named;
	// Applies to a program of another name too: it is most likely a wrapper around the known one.
	const { known } = ADAPTERS[profile.output];
	if (known === null || env.HOME === undefined) return null;
	return known.home === "" ? env.HOME : `${env.HOME}/${known.home}`;
}

const PIECE_BYTES = 1024 * 1024;
/** Matching the configuration's patterns takes longer: with a piece of this size the event loop is not blocked for long. */
const WATCHED_PIECE = 64 * 1024;

/** Reads the next megabyte at most of what a live run has written. Returns true if there may be more. */
export function readOn({ disk }: Pick<SupervisorContext, "disk">, { dir, agent }: { dir: string; agent: AgentRun | null }): boolean {
	if (agent === null || (agent.output === "command" && agent.watch === null) || agent.judgement) return false;
	const piece = agent.watch === null ? PIECE_BYTES : WATCHED_PIECE;
	const bytes = disk.readAt(`${dir}/stdout.log`, agent.offset, piece);
	agent.offset += bytes.length;
	agent.reader.push(bytes);
	agent.watch?.stdout(bytes);
	return bytes.length === piece;
}

/** Reads to the end, yielding after each piece: a gigabyte must not block the event loop. */
export async function readAll(context: SupervisorContext, run: { dir: string; agent: AgentRun }): Promise<Reading> {
	while (readOn(context, run)) await context.host.turn();
	return run.agent.reader.end();
}

/**
 * Adjusts the read offset after the middle of the log was cut out: `head` bytes are left before the cut, and the last `tail` bytes of what came after it.
 */
export function moveOn(
	agent: AgentRun | null,
	{ head, tail, before, after }: { head: number; tail: number; before: number; after: number },
): void {
	if (agent === null || agent.offset <= head) return;
	const unread = before - agent.offset;
	agent.offset = unread <= tail ? after - unread : head;
}

/** Judges a run by the rules of the configuration and those of its output format. */
export const judgeRun = ({ output, watch }: AgentRun, reading: Reading, exit: Exit, about: About): OwnJudgement =>
	watch === null ? { ...judge(output, reading, exit, about), rule: null } : watch.judge(output, reading, exit, about);
