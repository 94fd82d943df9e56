// run.verdict and run.result: only a run speaks for itself, and only while it lives.

import { expect, test } from "vitest";
import { openDesk } from "../../../test/make/served.ts";
import type { Caller } from "../context.ts";

test("a run speaks of itself; an operator and a viewer cannot", async () => {
	const desk = await openDesk();
	const id = await desk.t.add({ name: "review" });
	await desk.t.start();
	const { token } = desk.t.run(id);
	const run: Caller = { role: "run", by: `run:${id}.1`, door: "socket", job: id, token };
	expect(await desk.call("run.verdict", { verdict: "fail", text: "no" }, run)).toMatchObject({ job: id, verdict: "fail", text: "no" });
	expect(desk.pretended.verdicts).toMatchObject([
		[
			{ job: id, token },
			{ verdict: "fail", text: "no" },
		],
	]);
	expect(await desk.call("run.result", { result: null }, run)).toMatchObject({ job: id, bytes: 4 });
	expect(await desk.call("run.result", { result: { risk: "low" } }, run)).toMatchObject({ job: id, bytes: 14 });
	expect((await desk.call("job.show", { id })).job).toMatchObject({
		verdict: { verdict: "fail", text: "no", at: expect.stringMatching(/Z$/) },
		result: { risk: "low" },
	});
	expect((await desk.call("job.history", { id })).events.at(-1)).toMatchObject({ kind: "result", by: `run:${id}.1` });
	for (const method of ["run.verdict", "run.result"])
		expect(await desk.refused(method, method === "run.verdict" ? { verdict: "ok" } : { result: 1 })).toMatchObject({
			code: -32602,
			message: `${method} is for runs alone: this call does not come from inside one`,
			data: { code: "forbidden", hint: expect.stringContaining("sluice answer ID TEXT") },
		});
	const viewer: Caller = { role: "viewer", by: "viewer", door: "http" };
	expect(await desk.refused("run.verdict", { verdict: "ok" }, viewer)).toMatchObject({ code: -32003 });
	expect(await desk.call("run.verdict", { verdict: "ask", text: "" }, run)).toMatchObject({ text: "it asks for a person" });
	expect(await desk.call("run.verdict", { verdict: "fail", text: "x".repeat(20_000) }, run)).toMatchObject({
		text: `${"x".repeat(9999)}…`,
	});
	expect(await desk.call("run.verdict", { verdict: "fail" }, run)).toMatchObject({ text: "no reason given" });
	expect(await desk.refused("run.verdict", { verdict: "maybe" }, run)).toMatchObject({ data: { code: "invalid", field: "verdict" } });
	await desk.t.succeed(id);
	expect(await desk.refused("run.verdict", { verdict: "ok" }, run)).toMatchObject({
		code: -32009,
		message: `run:${id}.1 is over: what it says now does not count`,
		data: { code: "fenced" },
	});
	expect((await desk.call("job.show", { id })).job).toMatchObject({ status: "failed", end_reason: "no reason given" });
});
