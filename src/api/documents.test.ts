// Documents: every field of a job, null for absent values, times in RFC 3339, secrets masked.

import { describe, expect, test } from "vitest";
import { openDesk } from "../../test/make/daemons/served.ts";
import { NOON } from "../../test/make/fakes.ts";
import { DOCUMENT_FIELDS } from "../core/job-fields.ts";
import { INPUT_KEYS } from "../core/schema/job.ts";
import { rfc3339 } from "./documents.ts";

describe("a job's document", () => {
	test("has every field that a job can be given, and what became of it", async () => {
		const desk = await openDesk();
		await desk.t.add();
		const { job } = await desk.call("job.show", { id: 1 });
		// `parent_gate` and `serial` are shown as what they became: an edge, a lock.
		const shown = INPUT_KEYS.filter((key) => key !== "parent_gate" && key !== "serial");
		expect(shown.filter((key) => !(key in job))).toEqual([]);
		const state = ["status", "wait_reason", "waited_on", "exit_code", "exit_kind", "attempt", "depth", "enqueued_at", "dispatch_failures"];
		expect([...state, "last_failure", "version", "raw_exit_code", "merge_status"].filter((key) => !(key in job))).toEqual([]);
		expect(Object.entries(job).filter(([, value]) => value === undefined)).toEqual([]);
		// The fields against which `display.list` is checked.
		expect([...DOCUMENT_FIELDS].sort()).toEqual(Object.keys(job).sort());
	});

	test("returns the input unchanged", async () => {
		const desk = await openDesk({ config: { repos: { app: {} }, lanes: { default: {}, code: {} }, resources: { build: 2 } } });
		const input = {
			name: "x",
			batch: "b",
			item: "A-1",
			source: "cards",
			phase: "two",
			title: "do it",
			agent: "claude",
			prompt: "go",
			payload: { n: 1 },
			repo: "app",
			base_branch: "main",
			worktree: "feature",
			merge: "mr" as const,
			cwd: "/tmp",
			lane: "code",
			priority: 3,
			trigger: "cron",
			deadline: NOON + 5000,
			produces: ["custom:a:b"],
			owner: "ann",
			uses: { build: 1 },
			timeout: 1000,
			stall_timeout: 2000,
			model: "opus",
			permission: "full" as const,
			commit: "never" as const,
			args: "please",
			vars: { a: "b" },
			recipe: "r",
			mode: "ralph" as const,
			owned: true,
			raw: true,
			parallelizable: false,
			requires_approval: true,
			on_missing: "wait" as const,
			unique: { key: "k", window_ms: 5000, policy: "replace" as const },
		};
		// Added to the scheduler directly: the API would render a recipe.
		const result = await desk.t.sluice.add(input);
		if (result.outcome !== "queued") throw new Error(result.outcome);
		const added = await desk.call("job.show", { id: result.job.id });
		const { deadline, ...rest } = input;
		expect(added.job).toMatchObject({ ...rest, deadline: new Date(deadline).toISOString(), kind: "agent", merge_status: "none" });
		expect(added.job.locks.map(({ key }) => key)).toContain("branch:app:feature");
	});

	test("a job that may run in parallel says so, also with locks of its own", async () => {
		const desk = await openDesk();
		await desk.t.add({ locks: ["db"], serial: "group" });
		await desk.t.add({ parallelizable: false });
		expect((await desk.call("job.list", {})).jobs.map(({ parallelizable }) => parallelizable)).toEqual([true, false]);
	});

	test("shows a run, its question, and the last run", async () => {
		const desk = await openDesk();
		await desk.t.add();
		await desk.t.start();
		await desk.call("job.cancel", { id: 1, reason: "no" });
		const { job } = await desk.call("job.show", { id: 1 });
		expect(job.run).toMatchObject({
			id: "1.1",
			worker: "w",
			host: null,
			lease_until: null,
			stop: { kind: "cancelled", reason: "no", by: "ann" },
		});
		expect(job.exit_code).toBeNull();
		await desk.t.end(1, "completed", { exit_code: 0 });
		expect((await desk.call("job.show", { id: 1 })).job).toMatchObject({
			run: null,
			last_run: { id: "1.1" },
			status: "cancelled",
			exit_code: 143,
			raw_exit_code: 0,
		});
	});

	test("masks secrets in the environment, by name and by form", async () => {
		const desk = await openDesk();
		const env = {
			PATH: "/bin",
			API_KEY: "a",
			github_token: "b",
			MY_SECRET_NAME: "c",
			DB_PASSWORD: "d",
			KEYBOARD: "qwerty",
			ODD: "sk-ant-123",
			URL: "postgres://me:pw@host/db",
			GIT_URL: "https://hush@github.com/x",
			HOOK: "https://h/?token=hush&page=2",
			apiKey: "hush",
		};
		await desk.t.add({ env });
		const shapes = { URL: "postgres://***@host/db", GIT_URL: "https://***@github.com/x", HOOK: "https://h/?token=***&page=2" };
		const named = { API_KEY: "***", apiKey: "***", github_token: "***", MY_SECRET_NAME: "***", DB_PASSWORD: "***" };
		const expected = { ...env, ...named, ...shapes, ODD: "***" };
		expect((await desk.call("job.show", { id: 1 })).job.env).toEqual(expected);
		for (const method of ["job.show", "job.why", "job.list", "job.history"] as const)
			expect(
				JSON.stringify(await desk.say(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: method === "job.list" ? {} : { id: 1 } }))),
			).not.toMatch(/sk-ant|:pw@|hush/);
		desk.pretended.secrets = ["PATH"];
		expect((await desk.call("job.show", { id: 1 })).job.env).toMatchObject({ PATH: "***", API_KEY: "a" });
	});
});

test("times beyond RFC 3339 are shown as its last moment", () => {
	expect(rfc3339(0)).toBe("1970-01-01T00:00:00.000Z");
	expect(rfc3339(8.64e15)).toBe("9999-12-31T23:59:59.999Z");
});
