// The agent of a live run: which profile it was started with, and what has been read of its output so far.

import { EXPECTS, type Expect, expectedNow } from "../core/agents/closing.ts";
import type { Trouble } from "../core/agents/happening.ts";
import { ADAPTERS, isFormat, profileOf } from "../core/agents/index.ts";
import { type About, type Exit, judge } from "../core/agents/judge.ts";
import { readOwn } from "../core/agents/own/outcome-input.ts";
import { createWatch, type OwnJudgement, type OwnReading, type Watch } from "../core/agents/own/outcomes.ts";
import type { Format, Profile } from "../core/agents/profile.ts";
import { createReader, type Reader, type Reading } from "../core/agents/reading.ts";
import type { Claimed } from "../scheduler.ts";
import type { Floor } from "./floor.ts";
import type { SupervisorSettings } from "./settings.ts";

export type AgentRun = {
	readonly name: string;
	readonly output: Format;
	readonly stop_signal: Profile["stop_signal"];
	/** Where its login and its sessions are; null when nobody knows. */
	readonly home: string | null;
	/** The session that it goes on with. */
	readonly session: string | null;
	readonly account: string | null;
	/** What the configuration said of its output when it was started. */
	readonly own: OwnReading;
	/** The program, and where it was looked for: to ask for its version. */
	readonly program: { name: string; path: string } | null;
	readonly expect: Expect;
	readonly reader: Reader;
	/** Null where nothing is looked for in its lines. */
	readonly watch: Watch | null;
	/** Bytes of stdout that were read. */
	offset: number;
	/** Monotonic milliseconds since when it waits for the end of a limit by itself. */
	waitsSince: number | null;
	/** What it waited for by itself when it was stopped for that. */
	waited: Trouble | null;
	/** What became of it; null until its program is gone. */
	judgement: OwnJudgement | null;
};

/** What the run's own folder says of it, so that a later life reads it as it was started. */
export type AgentRecord = Pick<AgentRun, "name" | "output" | "stop_signal" | "home" | "session" | "account" | "own" | "program" | "expect">;

export const enlistAgent = (record: AgentRecord): AgentRun => ({
	...record,
	reader: createReader(record.output),
	watch: Object.keys(record.own).length > 0 ? createWatch(record.own) : null,
	offset: 0,
	waitsSince: null,
	waited: null,
	judgement: null,
});

export const recordOf = ({ name, output, stop_signal, home, session, account, own, program, expect }: AgentRun): AgentRecord => ({
	name,
	output,
	stop_signal,
	home,
	session,
	account,
	own,
	program,
	expect,
});

/** From run.json; null when it is not there, or of a version that did not write it. */
export function recordIn(json: unknown): AgentRecord | null {
	const { agent_run: found } = (json ?? {}) as { agent_run?: unknown };
	if (typeof found !== "object" || found === null) return null;
	const { name, output, stop_signal, home, session, account, own, program, expect } = found as Record<string, unknown>;
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
	};
}

/** Of a version that knew other keys, it is read as if nothing had been said. */
function ownIn(found: unknown): OwnReading {
	try {
		return readOwn(found ?? {}, "own");
	} catch {
		return {};
	}
}

function programIn(found: unknown): AgentRecord["program"] {
	const { name, path } = (found ?? {}) as Record<string, unknown>;
	return typeof name === "string" && typeof path === "string" ? { name, path } : null;
}

/** As the settings have it now. */
export function agentOf({ job, spec, run }: Claimed, settings: SupervisorSettings): AgentRecord | null {
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
	// Also of a program of another name: one that starts the known one, most likely.
	const { known } = ADAPTERS[profile.output];
	if (known === null || env.HOME === undefined) return null;
	return known.home === "" ? env.HOME : `${env.HOME}/${known.home}`;
}

const PIECE = 1024 * 1024;
/** Patterns of the configuration take longer: a piece of this size holds up nothing else. */
const WATCHED_PIECE = 64 * 1024;

/** Reads on in what a live run has written, a megabyte at most. True when more is there. */
export function readOn({ disk }: Pick<Floor, "disk">, { dir, agent }: { dir: string; agent: AgentRun | null }): boolean {
	if (agent === null || (agent.output === "command" && agent.watch === null) || agent.judgement) return false;
	const piece = agent.watch === null ? PIECE : WATCHED_PIECE;
	const bytes = disk.readAt(`${dir}/stdout.log`, agent.offset, piece);
	agent.offset += bytes.length;
	agent.reader.push(bytes);
	agent.watch?.stdout(bytes);
	return bytes.length === piece;
}

/** To the end, in turns: a gigabyte must not hold up everybody else. */
export async function readAll(floor: Floor, run: { dir: string; agent: AgentRun }): Promise<Reading> {
	while (readOn(floor, run)) await floor.host.turn();
	return run.agent.reader.end();
}

/** The middle of its log was cut out: `head` bytes are left in front of it, and of what was behind it the last `tail`. */
export function moveOn(
	agent: AgentRun | null,
	{ head, tail, before, after }: { head: number; tail: number; before: number; after: number },
): void {
	if (agent === null || agent.offset <= head) return;
	const unread = before - agent.offset;
	agent.offset = unread <= tail ? after - unread : head;
}

/** What became of it, by the rules of the configuration and those of its format. */
export const judgeRun = ({ output, watch }: AgentRun, reading: Reading, exit: Exit, about: About): OwnJudgement =>
	watch === null ? { ...judge(output, reading, exit, about), rule: null } : watch.judge(output, reading, exit, about);

export type Progress = {
	turns: number;
	tool_calls: number;
	/** What runs now. */
	tool: string | null;
	message: string | null;
	tokens: number;
	cost_micro: number | null;
};

export function progressOf(agent: AgentRun | null): Progress | null {
	if (agent === null || agent.output === "command") return null;
	const { reading } = agent.reader;
	const used = reading.total?.used ?? reading.steps;
	const running = [...reading.tools.values()].at(-1);
	return {
		turns: reading.turns,
		tool_calls: reading.tool_calls,
		tool: running ? `${running.name}${running.text === "" ? "" : ` ${running.text}`}` : null,
		message: reading.message === "" ? null : reading.message,
		tokens: used?.tokens ?? reading.seen,
		cost_micro: used?.cost_micro ?? null,
	};
}
