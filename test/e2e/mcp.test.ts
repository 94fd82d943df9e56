// `sluice mcp`, driven by the official client library over stdio against a real daemon: every tool, refusals, roles, bounds, and a run that uses it.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, onTestFinished, test } from "vitest";
import { METHODS, type MethodName } from "../../src/api/protocol.ts";
import { INPUT_KEYS } from "../../src/core/schema/job.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeProgram } from "../make/daemons/program.ts";
import { makeFolder } from "../make/folder.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** The built command: what it serves with is loaded from dist/. */
const SLUICE = join(ROOT, "bin/sluice.js");

const SPEC =
	"job_add, job_list, job_show, job_why, job_cancel, job_edit, job_hold, job_release, job_freeze, job_thaw, job_tell, job_retry, job_logs, job_wait, job_graph, scheduler_status, scheduler_pause, scheduler_resume, scheduler_forecast, stats_show, account_list, budget_list, run_fail, run_ask, run_result";
/** What a run says of itself: named for what an agent looks for, by two methods. */
const SPOKEN = ["run_fail", "run_ask", "run_result"];
const methodOf = (tool: string) => tool.replace("_", ".") as MethodName;

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at by shape
type Answer = { text: string; isError: boolean; data: any };

async function openMcp(home: TestHome, env: Record<string, string> = {}, cwd = tmpdir()) {
	const client = new Client({ name: "test", version: "1" });
	const transport = new StdioClientTransport({
		command: process.execPath,
		args: [SLUICE, "mcp"],
		env: { PATH: process.env.PATH ?? "", HOME: home.path, USER: "ann", SLUICE_HOME: home.path, SLUICE_PORT: "0", ...env },
		cwd,
		stderr: "pipe",
	});
	await client.connect(transport);
	onTestFinished(() => client.close());
	const call = async (name: string, args: Record<string, unknown> = {}): Promise<Answer> => {
		const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
		const [first] = content as { type: string; text: string }[];
		return { text: first?.text ?? "", isError: isError === true, data: structuredContent };
	};
	return { client, call, pid: transport.pid as number };
}

describe("the tools", () => {
	test("are those of the spec, with titles, all four hints, and what the methods take", { timeout: 120_000 }, async () => {
		const { client } = await openMcp(new TestHome());
		const { tools } = await client.listTools();
		expect(tools.map(({ name }) => name)).toEqual(SPEC.split(", "));
		for (const { name, title, description, annotations, inputSchema } of tools) {
			expect([name, title, annotations?.title]).toEqual([name, expect.stringMatching(/^[A-Z]/), title]);
			const hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;
			expect([name, hints.map((hint) => typeof annotations?.[hint])]).toEqual([name, hints.map(() => "boolean")]);
			if (SPOKEN.includes(name)) {
				expect(inputSchema.required).toEqual([name === "run_result" ? "result" : "text"]);
				expect(annotations).toMatchObject({ readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false });
				continue;
			}
			const { params, about, role } = METHODS[methodOf(name)];
			expect([name, description]).toEqual([name, expect.stringContaining(about)]);
			expect([name, annotations?.readOnlyHint]).toEqual([name, role === "viewer"]);
			const fields = Object.keys(inputSchema.properties ?? {});
			const own = name === "job_add" ? [...INPUT_KEYS, "when"] : name === "job_logs" ? ["raw"] : [];
			expect([name, [...fields].sort()]).toEqual([name, [...new Set([...own, ...Object.keys(params)])].sort()]);
			const needed = Object.entries(params).flatMap(([field, { needed: isNeeded }]) => (isNeeded ? [field] : []));
			expect([name, inputSchema.required ?? []]).toEqual([name, needed]);
		}
		const destructive = tools.filter(({ annotations }) => annotations?.destructiveHint).map(({ name }) => name);
		expect(destructive).toEqual(["job_cancel", "job_edit", "job_retry"]);
	});

	test("are nothing that other commands load", () => {
		const command = readFileSync(makeProgram("src/cli/main.ts"), "utf8");
		expect(command).toContain("claude mcp add");
		expect(command).not.toContain("@modelcontextprotocol");
		expect(command).not.toContain("readOnlyHint");
	});

	test("each does what its method does; a daemon is started for the first", { timeout: 180_000 }, async () => {
		const home = new TestHome();
		const { call } = await openMcp(home);
		expect((await call("scheduler_status")).data).toMatchObject({ schema_version: 1, running: 0, queued_total: 0, paused: false });
		const added = await call("job_add", { command: ["sh", "-c", "echo one; pwd; echo $LANG; exit 3"], name: "one", env: { LANG: "x" } });
		expect(added.data).toMatchObject({ outcome: "queued", job: { id: 1, name: "one", cwd: tmpdir() } });
		expect(added.text).toMatch(/^added job 1 \(one\): (queued|running)/);
		expect((await call("job_add", { command: ["true"], name: "two", after: ["one"], batch: "b", cwd: "." })).data.job).toMatchObject({
			id: 2,
			cwd: tmpdir(),
		});
		expect((await call("job_wait", { ids: ["one", 2] })).data).toMatchObject({
			done: true,
			jobs: [
				{ id: 1, status: "failed", exit_code: 3 },
				{ id: 2, status: "blocked_by_dependency" },
			],
		});
		expect((await call("job_logs", { id: "one" })).data).toMatchObject({ text: `one\n${tmpdir()}\nx\n`, ended: true, run: "1.1" });
		expect((await call("job_logs", { id: "one", offset: 4, limit: 4 })).data.text).toHaveLength(4);
		expect((await call("job_show", { id: "one" })).data.job).toMatchObject({ id: 1, exit_kind: "failed" });
		expect((await call("job_list")).data.jobs).toEqual([]);
		expect((await call("job_list", { all: true })).data.jobs.map((job: { id: number }) => job.id)).toEqual([1, 2]);
		expect((await call("job_graph", { all: true })).data).toMatchObject({ nodes: [{ id: 1 }, { id: 2 }], edges: [{ from: 2, to: 1 }] });
		expect((await call("job_graph", { all: true, format: "mermaid" })).text).toContain("flowchart");
		expect((await call("scheduler_pause", { reason: "lunch" })).data).toMatchObject({ scope: "all", paused: true });
		expect((await call("job_retry", { id: "one" })).data.reset).toEqual([1, 2]);
		const why = await call("job_why", { id: "one" });
		expect(why.data.reasons).toMatchObject([{ code: "paused", detail: expect.stringContaining("mcp:ann") }]);
		expect(why.text).toContain("lunch");
		const waiting = await call("job_wait", { ids: ["one", "two"], timeout_ms: 0 });
		expect(waiting.data.done).toBe(false);
		expect(waiting.data.note).toMatch(
			/2 of 2 have not ended: call job_wait again.*\nJob 1 is queued.*lunch[\s\S]*\nJob 2 is waiting_on_deps: waiting on job 1/,
		);
		expect((await call("scheduler_forecast", { batch: "b" })).data).toMatchObject({ jobs: [{ id: 2 }] });
		expect((await call("job_cancel", { ids: ["one"], subtree: true })).data.cancelled).toEqual([1, 2]);
		expect((await call("scheduler_resume")).data).toMatchObject({ scope: "all", paused: false });
		expect((await call("account_list")).data.accounts).toEqual([]);
		expect((await call("budget_list")).data.budgets).toEqual([]);
	});

	test("an agent's log is given as text, or as it was written", { timeout: 120_000 }, async () => {
		const home = new TestHome();
		home.make('agents: { speaker: { command: [printf, "%s\\\\n", "{prompt}"], output: claude } }\n');
		await home.up();
		const { call } = await openMcp(home);
		const line = JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text: "I have thought about it" }] } });
		await call("job_add", { agent: "speaker", prompt: line, name: "speaker", retry: 0 });
		await call("job_wait", { ids: ["speaker"] });
		expect((await call("job_logs", { id: "speaker" })).data.text).toBe("I have thought about it\n");
		expect((await call("job_logs", { id: "speaker", raw: true })).data.text).toBe(`${line}\n`);
	});

	test("a daemon that goes away is started again by the next call", { timeout: 120_000 }, async () => {
		const home = new TestHome();
		const { call } = await openMcp(home);
		await call("job_add", { command: ["true"], name: "kept", runnable_at: "2999-01-01T00:00:00Z" });
		expect(await home.run(["down"])).toMatchObject({ code: 0 });
		expect((await call("job_list")).data.jobs).toMatchObject([{ name: "kept" }]);
	});

	test("a daemon that is killed while a call waits: the next one answers", { timeout: 120_000 }, async () => {
		const home = new TestHome();
		const { child } = await home.up();
		const { call } = await openMcp(home, {}, home.path);
		await call("job_add", { command: ["sh", "-c", "until [ -e go ]; do sleep 0.02; done"], name: "long" });
		const waiting = call("job_wait", { ids: ["long"] });
		await home.kill(child);
		await until(() => home.leftovers().length > 0);
		writeFileSync(join(home.path, "go"), "");
		let waited = await waiting;
		while (waited.data.done === false) waited = await call("job_wait", { ids: ["long"] });
		expect(waited.data).toMatchObject({ done: true, jobs: [{ name: "long", status: "succeeded" }] });
	});

	test("the server ends when its client does", { timeout: 120_000 }, async () => {
		const { client, call, pid } = await openMcp(new TestHome());
		await call("scheduler_status");
		await client.close();
		await until(() => {
			try {
				process.kill(pid, 0);
				return false;
			} catch {
				return true;
			}
		});
	});
});

describe("refusals", () => {
	test("carry the code, the hint and the field of every other door", { timeout: 120_000 }, async () => {
		const home = new TestHome();
		const { client } = await home.up();
		await client.call("job.add", { command: ["true"], name: "build", runnable_at: "2999-01-01T00:00:00Z" });
		const { call } = await openMcp(home);
		const cases: [string, Record<string, unknown>, Record<string, unknown>][] = [
			["job_show", { id: "biuld" }, { code: "not_found", hint: expect.stringContaining('did you mean "build"?') }],
			["job_show", {}, { code: "invalid", field: "id" }],
			["job_show", { id: 1, colour: "red" }, { code: "unknown_key" }],
			["job_add", { comand: ["true"] }, { code: "unknown_key", hint: 'did you mean "command"?' }],
			["job_add", { command: ["true"], after: ["nobody"] }, { code: "not_found" }],
			["job_add", { command: "rm -rf /" }, { code: "invalid", field: "command" }],
			[
				"job_add",
				{ command: ["true"], when: "after_this_job" },
				{ code: "invalid", field: "when", hint: expect.stringContaining("after") },
			],
			["job_add", { command: ["true"], when: "soon" }, { code: "invalid", field: "when" }],
			["job_logs", { id: "build" }, { code: "not_found" }],
			["job_wait", { ids: [] }, { code: "invalid" }],
			["job_wait", { ids: [1], timeout_ms: 9_000_000 }, { code: "invalid", field: "timeout_ms" }],
			["job_rm", {}, { code: "unknown_method" }],
		];
		for (const [name, args, error] of cases) {
			const { isError, data, text } = await call(name, args);
			expect([name, args, isError, data?.error]).toEqual([name, args, true, expect.objectContaining(error)]);
			expect(text.startsWith(`${error.code}: `)).toBe(true);
		}
		expect((await client.call("job.list", { all: true })).jobs).toHaveLength(1);
	});

	test("a viewer may look and nothing else", { timeout: 120_000 }, async () => {
		const home = new TestHome();
		const { client } = await home.up();
		await client.call("job.add", { command: ["true"], name: "build", runnable_at: "2999-01-01T00:00:00Z" });
		const token = readFileSync(join(home.path, "viewer-token"), "utf8").trim();
		const { call } = await openMcp(home, { SLUICE_SOCKET: home.socket, SLUICE_TOKEN: token });
		expect((await call("job_list")).data.jobs).toHaveLength(1);
		expect((await call("job_why", { id: "build" })).data.reasons).toHaveLength(1);
		for (const [name, args] of [
			["job_add", { command: ["true"] }],
			["job_cancel", { id: "build" }],
			["scheduler_pause", {}],
		] as const)
			expect([name, (await call(name, args)).data]).toEqual([
				name,
				{ schema_version: 1, error: expect.objectContaining({ code: "unauthorised" }) },
			]);
		expect((await client.call("scheduler.status", {})).paused).toBe(false);
	});

	test("a run says no, asks and reports; outside of a run that is refused", { timeout: 120_000 }, async () => {
		const home = new TestHome();
		const { client } = await home.up();
		const folder = makeFolder();
		await client.call("job.add", { command: ["sh", "-c", "until test -e go; do sleep 0.05; done"], name: "review", cwd: folder });
		const record = join(home.path, "runs/1/1/run.json");
		await until(async () => existsSync(record) && (await client.call("job.show", { id: 1 })).job.run?.launched);
		const { token } = JSON.parse(readFileSync(record, "utf8")) as { token: string };
		const { call } = await openMcp(home, { SLUICE_SOCKET: home.socket, SLUICE_TOKEN: token, SLUICE_JOB_ID: "1" });
		expect(await call("run_ask", { text: "which?" })).toMatchObject({ isError: false, text: expect.stringContaining("End your work now") });
		expect(await call("run_fail", { text: "it deletes all users" })).toMatchObject({ isError: false, data: { job: 1, verdict: "fail" } });
		// A program that knows only texts writes an object as one.
		expect(await call("run_result", { result: '{"risk": "high"}' })).toMatchObject({ isError: false, data: { job: 1, bytes: 15 } });
		expect((await call("run_result", { result: "[".repeat(30_000) + "]".repeat(30_000) })).data.error).toMatchObject({ code: "limit" });
		expect((await call("run_ask", { text: "" })).data).toMatchObject({ verdict: "ask", text: "it asks for a person" });
		expect((await call("run_fail", {})).data).toMatchObject({ verdict: "fail", text: "no reason given" });
		expect((await call("run_fail", { text: "y".repeat(2_000_000) })).data).toMatchObject({ verdict: "fail" });
		expect((await client.call("job.show", { id: 1 })).job.verdict?.text).toBe(`${"y".repeat(9999)}…`);
		expect((await call("run_fail", { text: "- it deletes\u0000 all users" })).data).toMatchObject({ text: "- it deletes  all users" });
		writeFileSync(join(folder, "go"), "");
		const job = await until(async () => {
			const shown = (await client.call("job.show", { id: 1 })).job;
			return shown.status === "running" ? undefined : shown;
		});
		expect(job).toMatchObject({ status: "failed", end_reason: "- it deletes  all users", result: { risk: "high" } });
		const { call: outside } = await openMcp(home);
		expect((await outside("run_fail", { text: "no" })).data.error).toMatchObject({
			code: "forbidden",
			hint: expect.stringContaining("sluice cancel ID"),
		});
	});

	test("the command at a terminal, and a wrong word, are told what to do", { timeout: 60_000 }, async () => {
		const home = new TestHome();
		expect(await home.run(["mcp", "--help"])).toMatchObject({
			code: 0,
			out: expect.stringContaining("codex mcp add sluice -- sluice mcp"),
		});
		expect(await home.run(["mcp", "job_add"])).toMatchObject({ code: 2, out: "" });
	});
});

describe("long answers", () => {
	test("are cut, and say how to get the rest", { timeout: 180_000 }, async () => {
		const home = new TestHome();
		const { client } = await home.up();
		const { call } = await openMcp(home);
		const jobs = Array.from({ length: 230 }, (_, index) => ({
			name: `job-${index}`,
			command: ["sh", "-c", "true"],
			runnable_at: "2999-01-01T00:00:00Z",
		}));
		await client.call("job.apply", { manifest: { jobs } });
		const seen: number[] = [];
		for (let after = 0, more = true; more; ) {
			const { data } = await call("job_list", { after });
			expect(JSON.stringify(data).length).toBeLessThan(45_000);
			seen.push(...data.jobs.map((job: { id: number }) => job.id));
			const next = /`after: (\d+)`/.exec(data.note ?? "")?.[1];
			more = next !== undefined;
			after = Number(next);
		}
		expect(seen).toEqual(Array.from({ length: 230 }, (_, index) => index + 1));

		const { job: last } = (
			await call("job_add", {
				agent: "claude",
				prompt: "x".repeat(500_000),
				payload: { list: Array.from({ length: 20_000 }, () => "y") },
				after: Array.from({ length: 230 }, (_, index) => index + 1),
			})
		).data;
		const shown = await call("job_show", { id: last.id });
		expect(JSON.stringify(shown.data).length).toBeLessThan(60_000);
		expect(shown.data.job.prompt).toMatch(/^x{4000}… \(496000 more characters\)$/);
		expect(shown.data.note).toContain("sluice show ID --json");
		const why = await call("job_why", { id: last.id });
		expect(JSON.stringify(why.data).length).toBeLessThan(60_000);
		expect(why.data.note).toMatch(/of 230 reasons are shown: `sluice why 231`/);

		await call("job_add", { command: ["sh", "-c", "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done"], name: "loud" });
		await call("job_wait", { ids: ["loud"] });
		const tail = await call("job_logs", { id: "loud" });
		expect(tail.data.text).toHaveLength(16_000);
		expect(tail.data.text.endsWith("line 19999\n")).toBe(true);
		expect(tail.data.note).toContain("`offset: 0`");
		const head = await call("job_logs", { id: "loud", offset: 0, limit: 1_000_000 });
		expect(head.data.text.startsWith("line 0\nline 1\n")).toBe(true);
		expect(head.data.text).toHaveLength(40_000);
		expect(head.data.note).toContain("`offset: 40000`");
	});
});

test("a run schedules a helper and a follow-up of its own, waits, reads the log; its token allows no more", {
	timeout: 180_000,
}, async () => {
	const home = new TestHome();
	// Children wait for their parents here, which `when: now` overrules: else the wait would be refused. The run lends the only slot.
	home.make("parents: { gate: success }\nmax_concurrent: 1\n");
	const { client } = await home.up();
	const agent = makeProgram("test/make/daemons/mcp-agent.ts");
	await client.call("job.add", { name: "agent", command: [process.execPath, agent, SLUICE], cwd: home.path });
	await until(async () => (await client.call("job.wait", { ids: ["agent"] })).done);
	const { text } = await client.call("job.logs", { id: "agent" });
	const { text: errors } = await client.call("job.logs", { id: "agent", stream: "stderr" });
	expect([(await client.call("job.show", { id: "agent" })).job.status, errors]).toEqual(["succeeded", ""]);
	const said = JSON.parse(text);
	expect(said.helper).toMatchObject({ outcome: "queued", job: { name: "helper", parent: 1, cwd: home.path } });
	expect(said.waited).toMatchObject({ done: true, jobs: [{ name: "helper", status: "succeeded" }] });
	expect(said.log.text).toBe(`the helper was here\n${home.path}\n`);
	expect(said.later).toMatchObject({ outcome: "queued", job: { name: "later", parent: 1, after: [{ job: 1, policy: "success" }] } });
	expect(said.early).toMatchObject({
		isError: true,
		error: { code: "conflict", message: "job 1 cannot wait for job 3: job 3 comes after job 1" },
	});
	expect(said.refused).toMatchObject({ isError: true, error: { code: "unauthorised" } });
	await until(async () => (await client.call("job.wait", { ids: ["later"] })).done);
	expect((await client.call("job.show", { id: "later" })).job.status).toBe("succeeded");
	const { events } = await client.call("job.history", { id: "helper" });
	expect(events[0]).toMatchObject({ kind: "added", by: "run:1.1" });
});
