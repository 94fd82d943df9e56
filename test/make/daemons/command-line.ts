// A command line without a terminal or a daemon: the program with its words caught, and a daemon on a real socket that answers from a table.

import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { connect } from "../../../src/api/client.ts";
import type { CliEnvironment, DaemonConnection } from "../../../src/cli/io.ts";
import { program } from "../../../src/cli/program.ts";
import { makeFolder } from "../folder.ts";

export type Answers = Record<string, Record<string, unknown> | ((params: Record<string, unknown>) => Record<string, unknown>)>;
type Asked = { method: string; params: Record<string, unknown> };

/** Thrown by an answer: the daemon dies instead. */
export class Gone extends Error {}

/** Thrown by an answer: what the daemon refuses with. */
export class Refusal extends Error {
	readonly data: { code: string; hint?: string; field?: string; also?: object[] };
	constructor(message: string, data: { code: string; hint?: string; field?: string; also?: object[] }) {
		super(message);
		this.data = data;
	}
}

export type CommandLine = {
	home: string;
	asked: Asked[];
	/** Runs one command line to its end. */
	run(line: string | string[], more?: Partial<CliEnvironment>): Promise<{ code: number; out: string; err: string }>;
};

/** Noon, somewhere. */
export const NOW = Date.parse("2030-01-31T12:00:00Z");

export async function openCommandLine(answers: Answers | undefined): Promise<CommandLine> {
	const home = makeFolder();
	const socket = join(home, "sluice.sock");
	const asked: Asked[] = [];
	const open = new Set<Socket>();
	const server = answers ? await serve(socket, answers, asked, open) : undefined;
	onTestFinished(async () => {
		for (const one of open) one.destroy();
		await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
	});
	return {
		home,
		asked,
		async run(line, more = {}) {
			let out = "";
			let err = "";
			const argv = typeof line === "string" ? line.split(" ").filter(Boolean) : line;
			const world: CliEnvironment = {
				env: { PATH: "/bin", HOME: home, SECRET_TOKEN: "hidden" },
				cwd: home,
				stdin: (async function* () {})(),
				stdout: { write: (text) => (out += text) },
				stderr: { write: (text) => (err += text) },
				now: () => NOW,
				// Pauses are over at once; a daemon that answers is never waited for that long.
				after: (ms, call) => {
					if (ms < 5000) queueMicrotask(call);
					return () => {};
				},
				version: async () => "1.2.3",
				user: () => "ann",
				homeOf: (given) => given ?? home,
				insideOf: () => undefined,
				daemon: async () => {
					throw new Error("no daemon here");
				},
				connect: async (_home, how) => {
					if (server) return (await connect(socket)) as DaemonConnection;
					if (how === "if_running") return undefined;
					throw Object.assign(new Error("the daemon cannot be started"), { code: "no_daemon", hint: "see daemon.log" });
				},
				...more,
			};
			const code = await program(argv, world);
			return { code, out, err };
		},
	};
}

function serve(path: string, answers: Answers, asked: Asked[], open: Set<Socket>): Promise<Server> {
	const server = createServer((socket) => {
		open.add(socket);
		socket.on("error", () => {});
		socket.on("close", () => open.delete(socket));
		let text = "";
		socket.on("data", (chunk) => {
			text += chunk.toString("utf8");
			const lines = text.split("\n");
			text = lines.pop() ?? "";
			for (const line of lines) {
				const said = reply(line, answers, asked);
				if (said === "gone") socket.destroy();
				else socket.write(`${JSON.stringify(said)}\n`);
			}
		});
	});
	return new Promise((resolve) => server.listen(path, () => resolve(server)));
}

function reply(line: string, answers: Answers, asked: Asked[]): unknown {
	const { id, method, params } = JSON.parse(line) as { id: number; method: string; params: Record<string, unknown> };
	const { by, ...rest } = params;
	// Asked in passing, by every look at jobs.
	const display = method === "config.get" && String(params.key).startsWith("display.");
	if (display) return { jsonrpc: "2.0", id, result: { settings: [] } };
	if (method !== "scheduler.version") asked.push({ method, params: rest });
	const answer = answers[method] ?? (method === "scheduler.version" ? { version: "1.2.3", protocol: 1 } : undefined);
	const fail = (code: number, message: string, data: object) => ({ jsonrpc: "2.0", id, error: { code, message, data } });
	if (by !== "ann") return fail(-32602, "nobody says who asks", { code: "invalid" });
	if (answer === undefined) return fail(-32601, `there is no method ${method}`, { code: "not_found" });
	try {
		return { jsonrpc: "2.0", id, result: { schema_version: 1, ...(typeof answer === "function" ? answer(rest) : answer) } };
	} catch (error) {
		if (error instanceof Gone) return "gone";
		if (error instanceof Refusal) return fail(-32602, error.message, error.data);
		throw error;
	}
}

export const ago = (ms: number) => new Date(NOW - ms).toISOString();
/** A job as the daemon shows it, as far as commands look. */
export const job = (id: number, more: Record<string, unknown> = {}) => ({
	id,
	status: "queued",
	kind: "command",
	name: null,
	blocked: false,
	lane: "default",
	priority: 0,
	attempt: 0,
	repo: null,
	command: ["make", "test"],
	created_at: ago(180_000),
	runnable_at: ago(180_000),
	wait_reason: null,
	...more,
});
export const STATUS = {
	paused: false,
	paused_by: null,
	paused_at: null,
	queued_total: 12,
	queued_ready: 3,
	running: 2,
	max_concurrent: 4,
	lanes: { default: { queued: 12, running: 2, max: null }, code: { queued: 0, running: 1, max: 2 } },
	holds: [{ scope: "lane:code", kind: "paused", since: ago(60_000), until: null, by: "bo", reason: "release day" }],
	hosts: [{ name: "here", labels: ["gpu"], heartbeat_at: ago(5000), state: "live", running: 2, max: 4 }],
	backpressure: null,
	last_dispatch_at: ago(12_000),
};
export const SETTINGS = { "config.get": { settings: [{ key: "env", value: ["PATH", "LC_*"], origin: "default" }] } };
export const QUEUED: Answers = { ...SETTINGS, "job.add": { outcome: "queued", job: job(7), position: 2 } };
