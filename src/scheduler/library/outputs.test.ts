// Output that hosts keep for each other, forgotten with its job; questions that hosts ask each other, answered and cleared away.

import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import type { OutputRequest, RunOutput } from "../../contracts/output.ts";
import { openScheduler } from "../../open.ts";

const LOG: OutputRequest = { what: "log", job: 1, attempt: 1, stream: "stdout", offset: 0, limit: 10, wait_ms: 0 };
const output = (run: string): RunOutput => ({
	version: 1,
	run,
	host: "a",
	kept_at: 1,
	output: "command",
	outcome: { exit_kind: "completed" },
	stdout: { size: 0, parts: [] },
	stderr: { size: 0, parts: [] },
	patch: null,
	place: null,
});

async function two() {
	const path = join(makeFolder(), "sluice.db");
	paths.push(path);
	const open = (name: string) => openScheduler({ path, join: { name }, poll_others_ms: 5 });
	const [a, b] = [await open("a"), await open("b")];
	onTestFinished(() => a.close());
	onTestFinished(() => b.close());
	return { a, b };
}

async function done(a: Awaited<ReturnType<typeof two>>["a"]): Promise<number> {
	const added = await a.add({ command: ["true"] });
	const [claimed] = await a.claim({ worker: "w", host: "a" });
	if (added.outcome !== "queued" || !claimed) throw new Error(JSON.stringify(added));
	await a.complete({ job: added.job.id, token: claimed.run.token, exit_kind: "completed" });
	return added.job.id;
}

test("kept output of a run can be read on every host until its job is forgotten", async () => {
	const { a, b } = await two();
	const job = await done(a);
	expect(await b.outputs.read(job, 1)).toBeNull();
	expect(
		await b.outputs.missing([
			{ job, attempt: 1 },
			{ job: 99, attempt: 1 },
		]),
	).toEqual([{ job, attempt: 1 }]);
	await a.outputs.keep(job, 1, output("1.1"));
	expect(await b.outputs.read(job, 1)).toEqual(output("1.1"));
	expect(await b.outputs.missing([{ job, attempt: 1 }])).toEqual([]);
	expect([await b.outputs.ranOn(job, 1), await b.outputs.ranOn(job, 2)]).toEqual(["a", null]);
	// A read in the same transaction as the write sees it too.
	const [, again] = await Promise.all([a.outputs.keep(job, 1, { ...output("1.1"), kept_at: 2 }), a.outputs.read(job, 1)]);
	expect(again?.kept_at).toBe(2);
	expect(await b.gc({ days: 0 })).toMatchObject({ deleted: 1 });
	expect(await a.outputs.read(job, 1)).toBeNull();
	await a.outputs.keep(job, 1, output("1.1"));
	expect(await a.outputs.read(job, 1)).toBeNull();
});

test("a question is answered once, by the host that it is addressed to, and leaves no record", async () => {
	const { a, b } = await two();
	const heard: OutputRequest[] = [];
	onTestFinished(
		a.outputs.answer(async (question) => {
			heard.push(question);
			return { text: "x".repeat(100_000) };
		}),
	);
	b.outputs.answer(async () => "not mine");
	const answers = await Promise.all([b.outputs.inquire("a", LOG, 30_000), b.outputs.inquire("a", { what: "place", job: 2 }, 30_000)]);
	expect(answers).toEqual([{ text: "x".repeat(100_000) }, { text: "x".repeat(100_000) }]);
	expect(heard).toEqual([LOG, { what: "place", job: 2 }]);
	expect(await left(a)).toEqual([]);
});

test("a question without an answer, or whose answer fails, returns null and leaves no record", async () => {
	const { a, b } = await two();
	expect(await b.outputs.inquire("nobody", LOG, 20)).toBeNull();
	a.outputs.answer(() => Promise.reject(new Error("no")));
	expect(await b.outputs.inquire("a", LOG, 30_000)).toBeNull();
	expect(await left(a)).toEqual([]);
});

/** Questions and answers that are still in the store. */
async function left(scheduler: Awaited<ReturnType<typeof two>>["a"]): Promise<unknown[]> {
	const { openDatabase } = await import("../../stores/sqlite/driver.ts");
	await scheduler.status();
	const database = openDatabase(paths.at(-1) as string);
	try {
		return database.prepare("SELECT kind FROM record WHERE kind IN ('ask', 'reply')").all();
	} finally {
		database.close();
	}
}
const paths: string[] = [];
