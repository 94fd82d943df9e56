// job.edit: what is checked beside the fields, and what is shown of secrets.

import { expect, test } from "vitest";
import { openDesk } from "../../../test/make/daemons/served.ts";

test("changes a waiting job, and answers with it, the names of the fields, and all fields", async () => {
	const desk = await openDesk();
	await desk.call("job.add", { command: ["make"], name: "build", timeout: "30m", hold: true });
	const edited = await desk.call("job.edit", { id: "build", set: { priority: 5, deadline: "2100-01-01T00:00:00Z" }, unset: ["timeout"] });
	expect(edited).toMatchObject({
		job: { id: 1, priority: 5, timeout: null, deadline: "2100-01-01T00:00:00.000Z" },
		changed: ["priority", "deadline", "timeout"],
		fields: { name: "build", command: ["make"], lane: "default", priority: 5, deadline: "2100-01-01T00:00:00.000Z", hold: true },
	});
	expect((await desk.call("job.edit", { id: 1 })).changed).toEqual([]);
	expect((await desk.call("job.edit", { id: 1, set: { deadline: null, priority: null as never } })).changed).toEqual([
		"priority",
		"deadline",
	]);
	const { events } = await desk.call("job.history", { id: 1 });
	expect(events.filter(({ kind }) => kind === "edited")).toMatchObject([
		{ by: "ann", data: { fields: ["priority", "deadline", "timeout"] } },
		{ data: { fields: ["priority", "deadline"] } },
	]);
});

test("a masked variable that is sent back keeps its value; another value replaces it", async () => {
	const desk = await openDesk();
	await desk.call("job.add", { command: ["make"], hold: true, env: { API_KEY: "hush", URL: "https://u:pw@h/x", A: "1" } });
	const { fields } = await desk.call("job.edit", { id: 1 });
	expect(JSON.stringify(fields)).not.toMatch(/hush|pw@/);
	const shown = fields.env ?? {};
	expect((await desk.call("job.edit", { id: 1, set: { env: { ...shown, A: "2" } } })).changed).toEqual(["env"]);
	expect((await desk.t.show(1)).spec.env).toEqual({ API_KEY: "hush", URL: "https://u:pw@h/x", A: "2" });
	await desk.call("job.edit", { id: 1, set: { env: { API_KEY: "new" } } });
	expect((await desk.t.show(1)).spec.env).toEqual({ API_KEY: "new" });
});

test("refusals name the field", async () => {
	const desk = await openDesk();
	await desk.call("job.add", { command: ["make"], hold: true });
	const refused = async (params: object, code: string, field: string) =>
		expect(await desk.refused("job.edit", { id: 1, ...params })).toMatchObject({ data: { code, field } });
	await refused({ set: { lane: "nope" } }, "not_found", "lane");
	await refused({ set: { after: [1] } }, "cycle", "after");
	await refused({ set: { prio: 1 } }, "unknown_key", "prio");
	await refused({ set: { env: "A=1" } }, "invalid", "env");
	await refused({ set: [] }, "invalid", "set");
	await refused({ unset: ["nope"] }, "invalid", "unset");
	await refused({ set: { item: "x" } }, "invalid", "item");
	await refused({ set: { prompt: "x".repeat(2_000_000) } }, "limit", "prompt");
	expect((await desk.call("job.edit", { id: 1, set: { agent: "other", prompt: "x" } })).warning).toContain("agents.other.command");
});
