// A run's token against a real daemon: every RPC method over the socket and HTTP, and every MCP tool. The table in src/api/run-methods.ts says what each may
// do; the calls are made from the protocol, and jobs of another family, settings and everything else that is kept must stay as they were.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client as McpClient } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { type Client, connect } from "../../src/api/client.ts";
import type { JobDocument } from "../../src/api/documents.ts";
import { type ErrorBody, isMethod, METHODS, type MethodName } from "../../src/api/protocol.ts";
import { methodsThat, runMay } from "../../src/api/run-methods.ts";
import type { Field } from "../../src/core/schema/field.ts";
import { methodOf } from "../../src/mcp/tools.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";
import { makeRepository } from "../make/repository.ts";

const SLUICE = join(fileURLToPath(new URL("../..", import.meta.url)), "bin/sluice.js");
/** An agent that hands over its token and stays. */
const AGENT = 'cat > /dev/null; printf %s "$SLUICE_TOKEN" > token.new; mv token.new token; exec sleep 1000';

type Params = Record<string, unknown>;
type Answer = { result?: unknown; error?: ErrorBody };
type Stage = {
	home: TestHome;
	owner: Client;
	folder: string;
	/** The run's job, its token, and a child of it that waits. */
	job: number;
	token: string;
	child: number;
	/** Jobs of another family: one waits for approval, one runs, one has succeeded, one has failed. */
	waits: number;
	runs: number;
	done: number;
	failed: number;
	others: number[];
	/** Of the kernel's queue. */
	entry: number;
};

async function stage(): Promise<Stage> {
	const [home, folder, todo] = [new TestHome(), makeFolder(), makeFolder()];
	const repo = await makeRepository();
	writeFileSync(join(todo, "one.md"), "# One\n");
	home.make(
		JSON.stringify({
			max_concurrent: 20,
			kernel: { enabled: true },
			agents: { own: { command: ["sh", "-c", AGENT] } },
			accounts: { work: { max_api_calls: 5 }, home: {} },
			sources: { todo: { kind: "folder", root: todo } },
			repos: { app: { path: repo.path } },
			cron: { nightly: { schedule: "0 3 1 1 *", add: { command: ["true"] } } },
		}),
	);
	const { client: owner } = await home.up();
	const add = async (input: Params) => ((await owner.call("job.add", input as never)) as { job: JobDocument }).job.id;
	const job = await add({ agent: "own", prompt: "go", permission: "ask", cwd: folder, name: "mine", priority: 3 });
	await until(() => existsSync(join(folder, "token")));
	const token = readFileSync(join(folder, "token"), "utf8");
	const child = await add({ agent: "own", prompt: "go", permission: "ask", cwd: folder, parent: job, requires_approval: true });
	const other = { batch: "others", owner: "bob" };
	const waits = await add({ ...other, command: ["true"], name: "waits", requires_approval: true, unique: { key: "nightly" } });
	const runs = await add({ ...other, command: ["sleep", "1000"], locks: ["shared"] });
	const done = await add({ ...other, command: ["true"] });
	const failed = await add({ ...other, command: ["false"], retry: 0 });
	const status = async (id: number) => (await owner.call("job.show", { id })).job.status;
	// A run writes its token before the daemon records that it was launched.
	const launched = async (id: number) => (await owner.call("job.show", { id })).job.run?.launched === true;
	await until(async () => (await launched(job)) && (await launched(runs)));
	await until(async () => (await status(done)) === "succeeded" && (await status(failed)) === "failed");
	await owner.call("budget.grant", { subject: "owner:bob", dim: "tokens", limit: 10 });
	await owner.call("artifact.set", { artifact: "custom:a:b" });
	await owner.call("account.acquire", { name: "work", holder: "outside" });
	const { pid } = (await owner.call("kernel.agent.create", { name: "k" })) as { pid: number };
	const { sched_id } = (await owner.call("kernel.sched.enqueue", { pid })) as { sched_id: number };
	await owner.call("kernel.ledger.grant", { pid, dim: "tokens", limit: 10 });
	return { home, owner, folder, job, token, child, waits, runs, done, failed, others: [waits, runs, done, failed], entry: sched_id };
}

/** Everything that is kept of others, as the owner sees it. */
async function kept({ owner, others }: Stage): Promise<string> {
	const ask = async <M extends MethodName>(method: M, params: Params = {}) => owner.call(method, params as never);
	const { paused, holds, max_concurrent } = await ask("scheduler.status");
	return JSON.stringify(
		{
			jobs: await Promise.all(others.map((id) => ask("job.show", { id }))),
			histories: await Promise.all(others.map((id) => ask("job.history", { id }))),
			batch: (await ask("batch.show", { name: "others" })).jobs.length,
			scheduler: { paused, holds, max_concurrent },
			...Object.fromEntries(
				await Promise.all(
					(["config.list", "cron.list", "budget.list", "artifact.list", "lock.list", "repo.list"] as const).map(
						async (method) => [method, await ask(method)] as const,
					),
				),
			),
			kernel: [await ask("kernel.sched.list"), await ask("kernel.agent.list"), await ask("kernel.ledger.get", { pid: 1 })],
		},
		null,
		1,
	);
}

/** By the name of a parameter: what a method takes under it, where that is not plain from its kind. */
const NAMED: Record<string, unknown> = {
	...{ key: "max_concurrent", value: 9, subject: "owner:bob", dim: "tokens", artifact: "sentinel:go", batch: "others", lane: "default" },
	...{
		repo: "app",
		account: "work",
		agent: "own",
		recipe: "work",
		file: "/nowhere/kernel.db",
		schedule: "@daily",
		worker: "w",
		worker_id: "w",
	},
	...{ manifest: { jobs: [{ command: ["true"] }] }, item: "todo:one", scope: "all", fields: ["id"], on: "todo:one", to: "DEAD" },
	...{ command: ["true"], add: { command: ["true"] }, text: "description: x\n", exit: 0, pid: 1, sched_id: 1, dry_run: true, owner: "bob" },
};
const NOUNS: Record<string, string> = {
	...{ lane: "default", account: "work", batch: "others", source: "todo", recipe: "work", agent: "own", cron: "nightly", repo: "app" },
};

function fieldValue(method: MethodName, name: string, { kind, min = 0, max = 1, options = [] }: Field, target: number): unknown {
	const noun = method.slice(0, method.indexOf("."));
	if (name === "name" && noun in NOUNS) return NOUNS[noun];
	if (name === "ids" && kind === "words") return ["todo:one"];
	if (name in NAMED && kind !== "ids" && kind !== "id") return NAMED[name];
	switch (kind) {
		case "id":
			return target;
		case "ids":
			return [target];
		case "words":
			return ["x"];
		case "flag":
			return true;
		case "whole":
		case "number":
			return Math.max(min, Math.min(1, max));
		case "time":
			return "2030-01-01T00:00:00Z";
		case "duration":
			return 1000;
		case "choice":
			return options[0];
		case "choices":
			return [options[0]];
		case "json":
			return 1;
		case "object":
			return {};
		default:
			return "x";
	}
}

/** From the protocol: with what is needed, with everything, and with each field alone; aimed at others and at the run's own. */
function callsOf(method: MethodName, { waits, runs, failed, child, job }: Stage): Params[] {
	const fields = Object.entries(METHODS[method].params) as [string, Field][];
	const needed = fields.filter(([, field]) => field.needed);
	const made = (some: [string, Field][], target: number) =>
		Object.fromEntries(some.map(([name, field]) => [name, fieldValue(method, name, field, target)]));
	const targets = fields.some(([, { kind }]) => kind === "id" || kind === "ids") ? [waits, runs, failed, child, job] : [waits];
	const all = targets.flatMap((target) => [made(needed, target), made(fields, target)]);
	const single = fields.filter(([, field]) => !field.needed).map((field) => made([...needed, field], waits));
	return [...new Map([...all, ...single].map((params) => [JSON.stringify(params), params])).values()];
}

/** The token's bearer, by both doors. */
async function bearers({ home, token }: Stage): Promise<((method: string, params: Params) => Promise<Answer>)[]> {
	const line = await connect(home.socket);
	onTestFinished(() => line.close());
	expect(await line.call("session.auth", { token })).toMatchObject({ role: "run" });
	const { port } = JSON.parse(readFileSync(join(home.path, "daemon.json"), "utf8")) as { port: number };
	const bySocket = (method: string, params: Params): Promise<Answer> =>
		line.call(method as MethodName, params as never).then(
			(result) => ({ result }),
			(error) => ({
				error: { code: error.number, message: error.message, data: { code: error.code, field: error.field, hint: error.hint } },
			}),
		);
	const byHttp = async (method: string, params: Params): Promise<Answer> => {
		const answer = await fetch(`http://127.0.0.1:${port}/rpc`, {
			method: "POST",
			headers: { Authorization: `Bearer ${token}` },
			body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
		});
		return (await answer.json()) as Answer;
	};
	return [bySocket, byHttp];
}

const isRefused = ({ error }: Answer) => error?.data?.code === "unauthorised";
const seqOf = async ({ owner }: Stage) => (await owner.call("job.list", { limit: 1 })).seq;

test("what a run may do with a method fits its role", () => {
	for (const name of Object.keys(METHODS) as MethodName[]) {
		const { role } = METHODS[name];
		const rows = role === "operator" || role === "admin" ? ["refused"] : role === "run" ? ["adds", "itself"] : ["reads", "itself"];
		expect([name, rows.includes(runMay(name))]).toEqual([name, true]);
	}
});

/** What is refused is refused, whatever is asked, and nothing changes. */
async function refuses(at: Stage): Promise<void> {
	const [before, seq] = [await kept(at), await seqOf(at)];
	for (const call of await bearers(at))
		for (const method of methodsThat("refused")) {
			for (const params of callsOf(method, at)) {
				const { error } = await call(method, params);
				expect([method, params, error?.data?.code]).toEqual([method, params, "unauthorised"]);
				expect(error?.message).toBe(`${method} is not allowed inside a job`);
			}
			expect([method, await seqOf(at)]).toEqual([method, seq]);
		}
	expect(await kept(at)).toBe(before);
}

/** What reads answers, and changes nothing. */
async function reads(at: Stage): Promise<void> {
	const [before, seq] = [await kept(at), await seqOf(at)];
	/** Where what is needed alone is not enough for an answer. */
	const good: Partial<Record<MethodName, Params>> = {
		"job.outcome": { id: at.done },
		"job.logs": { id: at.done },
		"scheduler.run": { dry_run: true },
		"host.show": { name: (await at.owner.call("host.list", {})).hosts[0]?.name },
		"kernel.sched.get": { sched_id: at.entry },
		"kernel.ledger.check": { pid: 1, dim: "tokens", amount: 1 },
	};
	/** They answer only of jobs in a repo, or of an agent's session. */
	const none: Partial<Record<MethodName, string>> = { "job.diff": "not_found", "job.open": "not_found" };
	for (const call of await bearers(at))
		for (const method of methodsThat("reads")) {
			const [needed = {}, ...more] = callsOf(method, at);
			const answer = await call(method, good[method] ?? needed);
			expect([method, isRefused(answer), answer.error?.data?.code]).toEqual([method, false, none[method]]);
			for (const params of more) await call(method, params);
			expect([method, await seqOf(at)]).toEqual([method, seq]);
		}
	for (const call of await bearers(at)) {
		expect(isRefused(await call("budget.report", { subject: "owner:bob", dim: "tokens", amount: 5 }))).toBe(true);
		expect(isRefused(await call("scheduler.run", {}))).toBe(true);
	}
	expect(await kept(at)).toBe(before);
	expect(await seqOf(at)).toBe(seq);
}

/** What acts on itself acts on nothing else. */
async function actsOnItself(at: Stage): Promise<void> {
	const before = await kept(at);
	const [socket, http] = (await bearers(at)) as [typeof call, typeof call];
	const call = async (method: string, params: Params): Promise<Answer> => {
		await http(method, params);
		return socket(method, params);
	};
	const done = new Set<MethodName>();
	const proved = async (method: MethodName, params: Params) => {
		done.add(method);
		for (const one of callsOf(method, at)) await call(method, { ...one, ...(method === "job.wait" ? { timeout_ms: 0 } : {}) });
		return (await call(method, params)).result;
	};
	const show = async () => (await at.owner.call("job.show", { id: at.job })).job;
	expect(await proved("run.result", { result: { mine: true }, job: at.waits })).toBeUndefined();
	expect(await proved("run.result", { result: { mine: true } })).toMatchObject({ job: at.job });
	expect(await proved("run.verdict", { verdict: "ask", text: "mine" })).toMatchObject({ job: at.job });
	expect(await show()).toMatchObject({ result: { mine: true } });
	expect(await proved("account.acquire", { name: "work", holder: "outside" })).toMatchObject({ granted: true, in_use: 2 });
	expect(await socket("account.release", { name: "work", holder: "outside" })).toMatchObject({ result: { released: true } });
	expect(await proved("account.release", { name: "work", holder: "outside" })).toMatchObject({ released: false });
	expect(await at.owner.call("account.show", { name: "work" })).toMatchObject({ account: { calls: 1 } });
	expect(await proved("job.wait", { ids: [at.done], timeout_ms: 0 })).toMatchObject({ done: true });
	expect(await proved("session.auth", { token: at.token })).toMatchObject({ role: "run", job: at.job });
	expect([...done].sort()).toEqual(methodsThat("itself").sort());
	expect(await kept(at)).toBe(before);
}

test("what is refused is refused whatever is asked, what reads changes nothing, what acts on itself acts on nothing else", {
	timeout: 240_000,
}, async () => {
	const at = await stage();
	await refuses(at);
	await reads(at);
	await actsOnItself(at);
});

/** Fields of a job by which a child could do more than the run's own job. */
const wider = ({ waits, runs }: Stage): [field: string, job: Params][] => {
	const agent = { agent: "own", prompt: "go" };
	return [
		["command", { command: ["sh", "-c", "id"] }],
		["payload", { payload: 1 }],
		["permission", { ...agent, permission: "full" }],
		["permission", { ...agent, permission: "edit" }],
		["may_add", { ...agent, may_add: "full" }],
		["conditions", { ...agent, conditions: [{ kind: "command", argv: ["id"] }] }],
		["cwd", { ...agent, cwd: "/" }],
		["repo", { ...agent, repo: "app" }],
		["env.NODE_OPTIONS", { ...agent, env: { NODE_OPTIONS: "--require=/x.js" } }],
		["allow", { ...agent, allow: ["sh"] }],
		["account", { ...agent, account: "home" }],
		["produces", { ...agent, produces: ["sentinel:go"] }],
		["parent", { ...agent, parent: waits }],
		["parent", { ...agent, parent: runs }],
		["unique", { ...agent, unique: { key: "nightly", policy: "replace" } }],
	];
};

/** What the run has added: below its own job, and with no more. */
async function expectBounded(at: Stage): Promise<JobDocument[]> {
	const { jobs } = await at.owner.call("job.list", { all: true });
	const added = jobs.filter(({ id }) => id !== at.job && id !== at.child && !at.others.includes(id));
	const family = new Set([at.job, at.child, ...added.map(({ id }) => id)]);
	for (const job of added) {
		expect(family.has(job.parent ?? 0)).toBe(true);
		expect(job).toMatchObject({ kind: "agent", permission: "ask", may_add: "ask", repo: null, conditions: [], env: null });
		expect(job.priority).toBeLessThanOrEqual(3);
		expect([job.forced, job.rank]).toEqual([false, 0]);
		expect(job.cwd).toBe(at.folder);
	}
	return added;
}

test("what is added is below the run's own job and has no more than that", { timeout: 240_000 }, async () => {
	const at = await stage();
	const before = await kept(at);
	expect(methodsThat("adds").sort()).toEqual(["job.add", "job.apply", "job.sling"]);
	for (const call of await bearers(at)) {
		for (const [field, job] of wider(at)) {
			const single = await call("job.add", job);
			expect([field, job, single.error?.data]).toEqual([field, job, expect.objectContaining({ code: "forbidden", field })]);
			expect(single.error?.message).toContain(`job ${at.job}`);
			const many = await call("job.apply", { manifest: { jobs: [job] } });
			expect([field, many.error?.data]).toEqual([field, expect.objectContaining({ code: "forbidden", field: `jobs[0].${field}` })]);
		}
		for (const method of methodsThat("adds")) {
			const forced = await call(method, { ...callsOf(method, at)[0], agent: "own", prompt: "go", force: true });
			expect([method, forced.error?.data?.code]).toEqual([
				method,
				method === "job.add" ? "forbidden" : expect.stringMatching(/forbidden|unknown_key/),
			]);
			for (const params of callsOf(method, at)) await call(method, params);
		}
		for (const [params, field] of [
			[{ ids: ["todo:one"], repo: "app", agent: "own" }, "repo"],
			[{ ids: ["todo:one"], agent: "own", cwd: "/" }, "cwd"],
			[{ ids: ["todo:one"], agent: "own", force: true }, "force"],
		] as const)
			expect([params, (await call("job.sling", params)).error?.data]).toEqual([
				params,
				expect.objectContaining({ code: "forbidden", field }),
			]);
		const plain = { agent: "own", prompt: "go", priority: 1_000_000, requires_approval: true };
		expect(await call("job.add", plain)).toMatchObject({ result: { job: { parent: at.job, permission: "ask", priority: 3 } } });
		expect(await call("job.add", { ...plain, parent: at.child })).toMatchObject({ result: { job: { parent: at.child } } });
		expect(await call("job.apply", { manifest: { jobs: [plain] } })).toMatchObject({
			result: { warning: expect.stringContaining("lowered to 3") },
		});
	}
	expect((await expectBounded(at)).length).toBeGreaterThanOrEqual(6);
	expect(await kept(at)).toBe(before);
});

test("every MCP tool with a run's token does what its method's row says", { timeout: 240_000 }, async () => {
	const at = await stage();
	const before = await kept(at);
	for (const words of [["--for", "run"], []]) {
		const client = new McpClient({ name: "test", version: "1" });
		const env = {
			...{ PATH: process.env.PATH ?? "", HOME: at.home.path, SLUICE_HOME: at.home.path, SLUICE_SOCKET: at.home.socket },
			...{ SLUICE_TOKEN: at.token, SLUICE_JOB_ID: String(at.job), SLUICE_RUN_ID: `${at.job}.1` },
		};
		await client.connect(
			new StdioClientTransport({ command: process.execPath, args: [SLUICE, "mcp", ...words], env, cwd: at.folder, stderr: "pipe" }),
		);
		onTestFinished(() => client.close());
		const call = async (name: string, args: Params) => {
			const { isError, content, structuredContent } = await client.callTool({ name, arguments: args });
			const [first] = content as { text: string }[];
			return { isError: isError === true, text: first?.text ?? "", data: structuredContent as Params | undefined };
		};
		for (const { name } of (await client.listTools()).tools) {
			const { method = "", with: said = {} } = methodOf(name) ?? {};
			expect([name, isMethod(method)]).toEqual([name, true]);
			const may = runMay(method as MethodName);
			const calls = callsOf(method as MethodName, at).map((params) => (may === "itself" ? { ...params, timeout_ms: 0 } : params));
			for (const params of calls) {
				const own = Object.fromEntries(
					Object.entries(params).filter(([key]) => !(key in said) && !(name.startsWith("run_") && key === "timeout_ms")),
				);
				const { isError, text } = await call(name, own);
				if (may === "refused") expect([name, isError, text]).toEqual([name, true, expect.stringContaining("is not allowed inside a job")]);
				else if (may === "reads") expect([name, text]).toEqual([name, expect.not.stringContaining("is not allowed")]);
			}
		}
		for (const [field, job] of wider(at)) {
			const { isError, text } = await call("job_add", job);
			expect([field, isError, text]).toEqual([field, true, expect.stringContaining(`job ${at.job}`)]);
		}
		const added = await call("job_add", { agent: "own", prompt: "go", requires_approval: true });
		expect([added.isError, added.data]).toMatchObject([false, { job: { parent: at.job, permission: "ask", cwd: at.folder } }]);
	}
	await at.owner.call("scheduler.status", {});
	expect(await kept(at)).toBe(before);
	const { jobs } = await at.owner.call("job.list", { all: true });
	for (const job of jobs.filter(({ id }) => id > at.failed))
		expect(job).toMatchObject({ kind: "agent", permission: "ask", may_add: "ask" });
});
