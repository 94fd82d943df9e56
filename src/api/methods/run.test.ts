// run.verdict and run.result: only a run reports for itself, and only while it lives.

import { expect, test } from "vitest";
import { openDesk } from "../../../test/make/daemons/served.ts";
import type { Caller } from "../context.ts";

test("a run reports about itself; an operator and a viewer cannot", async () => {
	const desk = await openDesk();
	const id = await desk.t.add({ name: "review" });
	await desk.t.start();
	const { token } = desk.t.run(id);
	const run: Caller = { role: "run", by: `run:${id}.1`, channel: "socket", job: id, token };
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
	const viewer: Caller = { role: "viewer", by: "viewer", channel: "http" };
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

test("a run reads payloads and results of its own job, of jobs below it and of those it comes after; of all others they are masked", async () => {
	const desk = await openDesk();
	const payload = { password: "hush", plain: "seen" };
	const before = await desk.t.add({ name: "before" });
	await desk.t.start();
	const speaker: Caller = { role: "run", by: `run:${before}.1`, channel: "socket", job: before, token: desk.t.run(before).token };
	await desk.call("run.result", { result: { api_key: "hush" } }, speaker);
	await desk.t.end(before, "completed");
	const own = await desk.t.add({ name: "own", after: ["before"] });
	await desk.t.wait(1);
	await desk.t.start();
	const run: Caller = { role: "run", by: `run:${own}.1`, channel: "socket", job: own, token: desk.t.run(own).token };
	const child = await desk.t.add({ name: "child", parent: own, payload });
	const grandchild = await desk.t.add({ name: "grandchild", parent: child, payload });
	const stranger = await desk.t.add({ name: "stranger", payload });
	const cousin = await desk.t.add({ name: "cousin", parent: stranger, payload });

	const { jobs } = await desk.call("job.list", { all: true }, run);
	const seen = Object.fromEntries(jobs.map(({ id, payload, result }) => [id, payload ?? result]));
	const masked = { password: "***", plain: "seen" };
	expect(seen).toEqual({
		[before]: { api_key: "hush" },
		[own]: null,
		[child]: payload,
		[grandchild]: payload,
		[stranger]: masked,
		[cousin]: masked,
	});
	// Its parent is not part of the answer.
	for (const [id, shown] of [
		[grandchild, payload],
		[cousin, masked],
	] as const)
		expect((await desk.call("job.show", { id }, run)).job.payload).toEqual(shown);
	expect((await desk.call("job.show", { id: stranger })).job.payload).toEqual(payload);
	expect((await desk.call("job.show", { id: child }, { role: "viewer", by: "viewer", channel: "http" })).job.payload).toEqual(masked);
});
