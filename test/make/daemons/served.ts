// The doors of a daemon without the daemon: a scheduler on fakes, a pretended supervisor and configuration file, and short words for calling methods.

import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { onTestFinished } from "vitest";
import { connect } from "../../../src/api/client.ts";
import type { Caller, Checkup, Context, LogPiece, Setting, TriggerInfo } from "../../../src/api/context.ts";
import { answerText, type RpcServer, type RpcSession } from "../../../src/api/dispatch.ts";
import type { ErrorBody, MethodName, Params, Result, RpcResponse } from "../../../src/api/protocol.ts";
import { SECRET_NAMES } from "../../../src/api/secrets.ts";
import type { AuditEntry } from "../../../src/api/server/audit.ts";
import { PageSignIns } from "../../../src/api/server/page-sign-ins.ts";
import { PeopleBook } from "../../../src/api/server/people-book.ts";
import { type ServeOptions, type Serving, serve } from "../../../src/api/server/serve.ts";
import { SILENT } from "../../../src/contracts/log.ts";
import type { PauseScope, Scheduler } from "../../../src/contracts/scheduler.ts";
import type { Webhooks } from "../../../src/contracts/webhook.ts";
import { SluiceError } from "../../../src/core/errors.ts";
import * as check from "../../../src/core/input/check.ts";
import type { RunVerdict } from "../../../src/core/runs/verdict.ts";
import { createAgents } from "../../../src/daemon/agents.ts";
import { localHost, systemClock } from "../../../src/host/local.ts";
import { createIntake } from "../../../src/intake/index.ts";
import { forCheckedCalls } from "../../../src/open.ts";
import { ARGUMENTS } from "../../../src/scheduler/library/arguments.ts";
import { openSources } from "../../../src/sources/index.ts";
import { readKernelFile } from "../../../src/stores/sqlite/kernel-file.ts";
import type { ProgressOfRun, Supervisor } from "../../../src/supervisor/index.ts";
import { makeFolder } from "../folder.ts";
import { openStand, type Stand, type StandOptions } from "../stand.ts";

export const TOKENS = { admin: "admin-token-of-this-test", viewer: "viewer-token-of-this-test" };

/** What the pretended parts have been asked, and what they will answer. */
export type Pretended = {
	runTokens: Map<string, { job: number; run: string; token: number }>;
	/** By pid: the run that a process belongs to. */
	processes: Map<number, { job: number; run: string; token: number | null }>;
	logs: Map<string, Omit<LogPiece, "run" | "stream" | "offset" | "next_offset" | "output" | "parts">>;
	frozen: [what: "freeze" | "thaw", scope: PauseScope][];
	/** `7 TERM`: those that were sent to live runs. */
	signals: string[];
	verdicts: [run: { job: number; token: number }, verdict: RunVerdict][];
	downs: unknown[];
	errors: string[];
	checks: Checkup[];
	secrets: string[];
	triggers: TriggerInfo[];
	webhooks: Webhooks;
	agents: Record<string, { command: string[]; output?: "claude"; allow?: string[] }>;
	live: ReturnType<Supervisor["live"]>;
	progress: ProgressOfRun[];
	attached: string[];
	listeners: Set<(changed: readonly ProgressOfRun[]) => void>;
	outcomes: Map<string, Record<string, unknown>>;
	doors: ReturnType<Context["endpoints"]>;
	/** The newest last. */
	audit: AuditEntry[];
};

export class Desk {
	constructor(
		readonly t: Stand,
		readonly context: Context,
		readonly pretended: Pretended,
	) {}

	readonly owner: Caller = { role: "admin", by: "ann", channel: "socket" };

	readonly pages = new PageSignIns(systemClock);
	people: PeopleBook | undefined;

	get door(): RpcServer {
		this.people ??= new PeopleBook(this.context);
		return { context: this.context, tokens: TOKENS, pages: this.pages, people: this.people };
	}

	/** The answer to a text, parsed; undefined when there is none. */
	async say(text: string, caller: Caller = this.owner): Promise<RpcResponse | RpcResponse[] | undefined> {
		const session: RpcSession = { caller };
		const answer = await answerText(this.door, session, text);
		return answer === undefined ? undefined : JSON.parse(answer);
	}

	/** The result of a method that must answer with one. */
	async call<M extends MethodName>(method: M, params: Params<M>, caller?: Caller): Promise<Result<M>> {
		const answer = (await this.say(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }), caller)) as RpcResponse;
		if ("error" in answer) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
		return answer.result as Result<M>;
	}

	/** The error of a method that must refuse. */
	async refused(method: string, params: unknown, caller?: Caller): Promise<ErrorBody> {
		const answer = (await this.say(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }), caller)) as RpcResponse;
		if ("result" in answer) throw new Error(`${method} was accepted: ${JSON.stringify(answer.result)}`);
		return answer.error;
	}
}

/** Timers are real, since waiting calls hang on them; the scheduler's own clock stands still. */
export async function openDesk(options: StandOptions = {}): Promise<Desk> {
	const t = await openStand({ by: "test", ...options });
	const pretended: Pretended = {
		logs: new Map(),
		runTokens: new Map(),
		processes: new Map(),
		frozen: [],
		signals: [],
		verdicts: [],
		downs: [],
		errors: [],
		checks: [{ name: "node", ok: true, detail: "20.20" }],
		secrets: [...SECRET_NAMES],
		triggers: [],
		webhooks: {
			list: async () => [],
			test: async () => ({ delivered: true, status: 200, took_ms: 1, error: null, answer: "" }),
			retry: async () => {},
		},
		agents: { claude: { command: ["claude"] } },
		live: [],
		progress: [],
		attached: [],
		listeners: new Set(),
		outcomes: new Map(),
		doors: { port: 7420, problem: null, ready: true },
		audit: [],
	};
	return new Desk(t, contextOf(t, pretended), pretended);
}

/** The scheduler as RPC has it. An argument that the library would refuse or change is a fault of RPC's own checks, and ends the call as an internal error. */
function strictly(scheduler: Scheduler): Scheduler {
	const plain = { ...forCheckedCalls(scheduler) } as unknown as Record<string, (...args: unknown[]) => unknown>;
	const { complete: _, ...tables } = ARGUMENTS;
	for (const [name, readers] of Object.entries(tables)) {
		const call = plain[name];
		plain[name] = (...args) => {
			const read = readers.map((one, index) => attempt(() => one(args[index])));
			if (!isDeepStrictEqual(plainOf(read), plainOf(readers.map((_one, index) => args[index]))))
				throw new Error(`RPC passes ${JSON.stringify(args)} to ${name}, and the library reads ${JSON.stringify(read)}`);
			return call?.(...args);
		};
	}
	return plain as unknown as Scheduler;
}
const plainOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const attempt = (read: () => unknown): unknown => {
	try {
		return read();
	} catch (error) {
		return `refused: ${error instanceof Error ? error.message : error}`;
	}
};

function contextOf(t: Stand, pretended: Pretended): Context {
	const set = new Map<string, Setting>();
	const error = (message: string, fields?: Record<string, unknown>) => pretended.errors.push(`${message} ${JSON.stringify(fields)}`);
	return {
		scheduler: strictly(t.sluice),
		supervisor: {
			logs(job, { attempt = 1, stream = "both", offset = 0, limit = 65_536 } = {}) {
				const log = pretended.logs.get(`${job}.${attempt}`);
				if (!log) return null;
				const text = log.text.slice(offset, offset + limit);
				return {
					run: `${job}.${attempt}`,
					stream,
					offset,
					next_offset: offset + text.length,
					text,
					parts: text === "" ? [] : [{ stream: stream === "stderr" ? stream : "stdout", length: text.length }],
					eof: log.eof,
					ended: log.ended,
					output: "command",
				};
			},
			outcome: (job, attempt) => pretended.outcomes.get(`${job}.${attempt}`) ?? null,
			freeze: async (scope) => void pretended.frozen.push(["freeze", scope]),
			thaw: async (scope) => void pretended.frozen.push(["thaw", scope]),
			signal: (job, signal) => pretended.live.some((one) => one.job === job) && pretended.signals.push(`${job} ${signal}`) > 0,
			live: () => pretended.live,
			progress: (job) => pretended.progress.filter((one) => job === undefined || one.job === job),
			attach: (job, { by, key }) => {
				pretended.attached.push(`${job} ${by} ${key}`);
				return { key: "key-1", state: key === null ? "waiting" : "ready", session: "s-1", account: null, cwd: "/work" };
			},
			detach: (job, { key, done }) => {
				pretended.attached.push(`${job} ${key} ${done ? "done" : "goes on"}`);
				return key === "key-1";
			},
			onProgress: (call) => {
				pretended.listeners.add(call);
				return () => pretended.listeners.delete(call);
			},
			runCycle: async () => (await t.sluice.runCycle({ worker: "host:local", host: "local", max: 100 })).report,
			promptProblem: () => null,
			roleOfToken: (token) => pretended.runTokens.get(token) ?? null,
			runOfProcess: async ({ pid }) => pretended.processes.get(pid) ?? null,
			noteVerdict: (run, verdict) => void pretended.verdicts.push([run, verdict]),
			dropForgotten: async () => 0,
		},
		config: {
			get: (key) => [...set.values()].filter((one) => one.key === key || one.key.startsWith(`${key}.`)),
			async set(key, value) {
				const nested = key.split(".").reduceRight<unknown>((inner, step) => ({ [step]: inner }), value);
				await t.sluice.configure(nested as Record<string, unknown>);
				set.set(key, { key, value, origin: "config.yml" });
				return [{ key, value, origin: "config.yml" }];
			},
			unset: async (key) => (set.delete(key) ? [{ key, value: null, origin: "default" }] : []),
			list: () => [...set.values()],
			check: (text) => (text === "bad" ? [{ code: "unknown_key", message: "bad: there is no such key", field: "bad", hint: null }] : []),
			settings: () => ({ secrets: pretended.secrets }),
		},
		agents: createAgents(() => ({ agents: pretended.agents, accounts: {}, env: [] }), { PATH: "" }),
		webhooks: pretended.webhooks,
		triggers: { list: async () => pretended.triggers, run: async (name) => ({ outcome: "added", job: name.length }) },
		repos: {
			list: async () => [],
			show: async (name) => {
				throw new SluiceError("not_found", `there is no repo ${JSON.stringify(name)}`, { field: "name" });
			},
			add: async ({ path }) => {
				throw new SluiceError("invalid", `${check.shown(path)} is not a git repository`, { field: "path" });
			},
			trust: async (name) => {
				throw new SluiceError("not_found", `there is no repo ${JSON.stringify(name)}`, { field: "name" });
			},
			remove: async (name) => {
				throw new SluiceError("not_found", `there is no repo ${JSON.stringify(name)}`, { field: "name" });
			},
			mustHaveBranch: async () => {},
		},
		work: {
			prune: async () => ({ removed: [], kept: [] }),
			worktrees: () => [],
			place: async () => null,
			stuckMerges: () => [],
			restorable: async () => null,
			lookForBusy: async () => {},
			diff: async () => null,
			branchDiff: async () => null,
			capture: async () => "",
		},
		home: "/home/of/test",
		version: "0.0.0-test",
		pid: 4711,
		startedAt: t.clock.now(),
		endpoints: () => pretended.doors,
		audit: {
			note: (entry) => void pretended.audit.push({ at: t.clock.now(), host: "local", ...entry }),
			read: async ({ limit, by, method }) => ({
				entries: pretended.audit
					.filter((one) => (by === undefined || one.by === by) && (method === undefined || one.method === method))
					.slice(-limit)
					.reverse(),
				missing: [],
			}),
		},
		log: { debug() {}, info() {}, warn() {}, error },
		clock: systemClock,
		host: localHost,
		user: "ann",
		down: (options) => void pretended.downs.push(options),
		doctor: async () => pretended.checks,
		kernelFile: readKernelFile,
		intake: createIntake({
			scheduler: t.sluice,
			sources: openSources({ host: localHost, clock: systemClock, env: () => ({}) }),
			host: localHost,
			log: SILENT,
			home: "/home/of/test",
			repos: () => t.sluice.config().repos,
			recipesOf: () => ({ files: [], ignored: [], problem: null, hint: null }),
			mustHaveBranch: async () => {},
			cursor: { read: () => null, write() {} },
			queue: async () => ({ queue: "test", home: "/home/of/test", host: "here" }),
		}),
	};
}

/** The doors open, on a socket in a folder of the test's own and on a free port. */
export async function openDoors(
	desk: Desk,
	more: Partial<ServeOptions> = {},
): Promise<{ serving: Serving; socket: string; url: string; connect: () => ReturnType<typeof connect> }> {
	const socket = join(makeFolder(), "sluice.sock");
	const serving = await serve({ context: desk.context, socketPath: socket, port: 0, tokens: TOKENS, ...more });
	onTestFinished(() => serving.close());
	return {
		serving,
		socket,
		url: `http://127.0.0.1:${serving.port}`,
		connect: async () => {
			const client = await connect(socket);
			onTestFinished(() => client.close());
			return client;
		},
	};
}
