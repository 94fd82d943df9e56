// What a run's token may add: nothing that exceeds the run's own job, nothing under another family, nothing in front of its own job.

import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Desk, openDesk } from "../../../test/make/daemons/served.ts";
import { makeFolder } from "../../../test/make/folder.ts";
import type { JobInput } from "../../core/job.ts";
import type { Caller } from "../context.ts";

type Opened = { desk: Desk; run: Caller; id: number; other: number; folder: string };

/** A running job with this input, and a waiting job of another family. */
async function opened(input: JobInput): Promise<Opened> {
	const desk = await openDesk({ config: { lanes: { default: {} }, accounts: { work: {}, home: {} }, repos: { app: {}, web: {} } } });
	const folder = makeFolder();
	const id = await desk.t.add({ cwd: folder, ...input });
	await desk.t.start(1);
	const other = await desk.t.add({ name: "other", command: ["true"], unique: { key: "nightly" } });
	const { token } = desk.t.run(id);
	return { desk, run: { role: "run", by: `run:${id}.1`, channel: "socket", job: id, token }, id, other, folder };
}

const AGENT = { agent: "claude", prompt: "go" };
const edit = (): Promise<Opened> => opened(AGENT);

test.each<[what: string, of: JobInput, adds: Record<string, unknown>, field: string]>([
	["a command", AGENT, { command: ["sh", "-c", "id"] }, "command"],
	["a payload for an outside worker", AGENT, { payload: { do: "it" } }, "payload"],
	["permission full", AGENT, { ...AGENT, permission: "full" }, "permission"],
	["permission edit, at ask", { ...AGENT, permission: "ask" }, { ...AGENT, permission: "edit" }, "permission"],
	["a child that may add more", AGENT, { ...AGENT, may_add: "full" }, "may_add"],
	["a command as a condition", AGENT, { ...AGENT, conditions: [{ kind: "command", argv: ["id"] }] }, "conditions"],
	["commands that are allowed", AGENT, { ...AGENT, allow: ["npm"] }, "allow"],
	["a variable", AGENT, { ...AGENT, env: { NODE_OPTIONS: "--require=/x.js" } }, "env.NODE_OPTIONS"],
	["another folder", AGENT, { ...AGENT, cwd: "/" }, "cwd"],
	["a repo", AGENT, { ...AGENT, repo: "app" }, "repo"],
	["an account", AGENT, { ...AGENT, account: "home" }, "account"],
	["a marker", AGENT, { ...AGENT, produces: ["sentinel:go"] }, "produces"],
	["force", { command: ["true"] }, { command: ["true"], force: true }, "force"],
	["force, by a recipe's name or not", AGENT, { ...AGENT, force: true }, "force"],
])("job.add of a run refuses %s", async (_what, of, adds, field) => {
	const { desk, run, id } = await opened(of);
	const refused = await desk.refused("job.add", adds, run);
	expect([refused.data?.code, refused.data?.field]).toEqual(["forbidden", field]);
	expect(refused.message).toContain(`job ${id}`);
	const manifest = { jobs: [Object.fromEntries(Object.entries(adds).filter(([key]) => key !== "force"))] };
	const applied = await desk.refused("job.apply", { manifest, ...(adds.force ? { force: true } : {}) }, run);
	expect([applied.data?.code, applied.data?.field]).toEqual(["forbidden", field === "force" ? field : `jobs[0].${field}`]);
	expect((await desk.t.sluice.list({ all: true })).map((job) => job.name ?? "run")).toEqual(["run", "other"]);
});

test("variables of a manifest are checked after they are filled in", async () => {
	const { desk, run } = await edit();
	// biome-ignore lint/suspicious/noTemplateCurlyInString: this is what manifests write
	const manifest = { jobs: [{ ...AGENT, for_each: [{ level: "full" }], permission: "${level}" }] } as never;
	expect((await desk.refused("job.apply", { manifest }, run)).data).toMatchObject({ code: "forbidden", field: "jobs[0].permission" });
	const defaults = { defaults: { permission: "full" }, jobs: [AGENT] } as never;
	expect((await desk.refused("job.apply", { manifest: defaults }, run)).data).toMatchObject({ code: "forbidden" });
});

test("an absent permission is at most the run's own, which also bounds grandchildren", async () => {
	const { desk, run, folder } = await opened({ ...AGENT, permission: "ask" });
	const { job } = (await desk.call("job.add", AGENT as never, run)) as { job: { id: number; permission: string; cwd: string } };
	expect([job.permission, job.cwd]).toEqual(["ask", folder]);
	await desk.t.succeed(run.job as number);
	await desk.t.sluice.runNow(job.id);
	await desk.t.start(1);
	const child: Caller = { role: "run", by: `run:${job.id}.1`, channel: "socket", job: job.id, token: desk.t.run(job.id).token };
	expect((await desk.refused("job.add", { ...AGENT, permission: "edit" }, child)).data?.field).toBe("permission");
});

test("a job that may add everything, and a command of the owner, are not limited", async () => {
	for (const of of [{ ...AGENT, permission: "ask" as const, may_add: "full" as const }, { command: ["true"] }]) {
		const { desk, run, id } = await opened(of);
		const { job } = (await desk.call("job.add", { command: ["true"], cwd: "/", env: { A: "b" } } as never, run)) as never as {
			job: { parent: number; cwd: string };
		};
		expect([job.parent, job.cwd]).toEqual([id, "/"]);
		expect(await desk.call("job.add", { ...AGENT, permission: "full", repo: "app" } as never, run)).toMatchObject({ outcome: "queued" });
	}
});

test("may_add lowers what a command may add", async () => {
	const { desk, run } = await opened({ command: ["true"], may_add: "ask" });
	expect((await desk.refused("job.add", { command: ["true"] }, run)).data?.field).toBe("command");
	expect(await desk.call("job.add", AGENT as never, run)).toMatchObject({ job: { permission: "ask" } });
});

test("a parent is the run's own job or a descendant", async () => {
	const { desk, run, id, other } = await edit();
	for (const parent of [other, "other"])
		expect((await desk.refused("job.add", { ...AGENT, parent }, run)).data).toMatchObject({ code: "forbidden", field: "parent" });
	const manifest = { jobs: [{ ...AGENT, parent: other }] } as never;
	expect((await desk.refused("job.apply", { manifest }, run)).data).toMatchObject({ code: "forbidden", field: "jobs[0].parent" });
	const { job } = (await desk.call("job.add", { ...AGENT, parent: id } as never, run)) as { job: { id: number } };
	expect(await desk.call("job.add", { ...AGENT, parent: job.id } as never, run)).toMatchObject({ job: { parent: job.id } });
});

test("a job of another family is neither replaced nor updated", async () => {
	const { desk, run, other } = await opened({ command: ["true"] });
	const unique = { key: "nightly", policy: "replace" };
	expect((await desk.refused("job.add", { command: ["true"], unique }, run)).data).toMatchObject({ code: "forbidden", field: "unique" });
	const manifest = { jobs: [{ command: ["true"], unique }] } as never;
	expect((await desk.refused("job.apply", { manifest }, run)).data).toMatchObject({ code: "forbidden", field: "jobs[0].unique" });
	const renamed = { jobs: [{ command: ["false"], name: "other" }] } as never;
	expect((await desk.refused("job.apply", { manifest: renamed, update: true }, run)).data).toMatchObject({ code: "forbidden" });
	expect(await desk.t.sluice.show(other)).toMatchObject({ status: "queued", spec: { command: ["true"] } });
	const { job } = (await desk.call("job.add", { command: ["true"], unique: { key: "mine" } } as never, run)) as { job: { id: number } };
	await desk.call("job.add", { command: ["true"], unique: { key: "mine", policy: "replace" } } as never, run);
	expect((await desk.t.sluice.show(job.id)).status).toBe("cancelled");
});

test("a higher priority than the run's own is lowered to that, with a warning", async () => {
	const { desk, run, id } = await opened({ command: ["true"], priority: 5 });
	const answer = await desk.call("job.add", { command: ["true"], priority: 1_000_000 } as never, run);
	expect(answer).toMatchObject({ job: { priority: 5 }, warning: expect.stringContaining(`5, the priority of job ${id}`) });
	expect(await desk.call("job.add", { command: ["true"], priority: -3 } as never, run)).toMatchObject({ job: { priority: -3 } });
	const applied = await desk.call("job.apply", { manifest: { jobs: [{ command: ["true"], priority: 9 }] } }, run);
	expect(applied.warning).toContain("lowered to 5");
	expect((await desk.t.sluice.show(applied.jobs[0] as number)).priority).toBe(5);
});

test("a link that leads out of the run's own folder is refused", async () => {
	const { desk, run, folder } = await edit();
	mkdirSync(join(folder, "below"));
	symlinkSync("/", join(folder, "link"));
	const cwd = join(folder, "link/etc");
	expect((await desk.refused("job.add", { ...AGENT, cwd }, run)).data).toMatchObject({ code: "forbidden", field: "cwd" });
	const manifest = { jobs: [{ ...AGENT, cwd }] } as never;
	expect((await desk.refused("job.apply", { manifest }, run)).data).toMatchObject({ code: "forbidden", field: "jobs[0].cwd" });
	expect(await desk.call("job.add", { ...AGENT, cwd: join(folder, "below") } as never, run)).toMatchObject({ outcome: "queued" });
	expect((await desk.refused("job.add", { ...AGENT, cwd: join(folder, "../../etc") }, run)).data?.field).toBe("cwd");
});

test("only uncommitted changes in the run's own folder can be captured", async () => {
	const { desk, run, folder } = await opened({ command: ["true"] });
	const capture = { command: ["true"], capture_diff: true };
	expect((await desk.refused("job.add", { ...capture, cwd: makeFolder() }, run)).data).toMatchObject({
		code: "forbidden",
		field: "capture_diff",
	});
	expect(await desk.call("job.add", { ...capture, cwd: folder } as never, run)).toMatchObject({ outcome: "queued" });
});

test("variables that the command line passes along by itself get the values of the run's job", async () => {
	const { desk, run } = await opened({ ...AGENT, env: { PATH: "/usr/bin", TOPIC: "x" } });
	const { job } = (await desk.call("job.add", { ...AGENT, env: { PATH: "/tmp/evil", LANG: "C", TOPIC: "x" } } as never, run)) as {
		job: { id: number };
	};
	expect((await desk.t.sluice.show(job.id)).spec.env).toEqual({ PATH: "/usr/bin", TOPIC: "x" });
});
