// Every field of `add`, given anything: accepted and readable again, or refused with an error that names the field, and the store as it was.

import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JobRow } from "../../src/contracts/store.ts";
import { isWaiting, type Status } from "../../src/core/job.ts";
import { INPUT_KEYS } from "../../src/core/schema/job.ts";
import { type AddResult, type JobInput, type JobView, SluiceError } from "../../src/index.ts";
import { unpack } from "../../src/stores/sql/document.ts";
import { NOON } from "../make/fakes.ts";
import { makeFolder } from "../make/folder.ts";
import { openStand, type Stand } from "../make/stand.ts";
import { CONFIG, FIELDS } from "./job-fields.ts";
import { expectTyped, keysOf, named, spoilt, Witness, wild } from "./wild.ts";

/** A stand on a file, somebody who watches the file, and two jobs to refer to. */
async function setUp(): Promise<{ t: Stand; watch: Witness }> {
	const path = join(makeFolder(), "sluice.db");
	const t = await openStand({ path, config: CONFIG, join: { name: "h", labels: ["gpu"] } });
	await t.add({ name: "first" });
	await t.add({ name: "second" });
	const watch = new Witness(path);
	onTestFinished(() => watch.close());
	return { t, watch };
}

/** An accepted job is what was answered, for everybody who asks, and has a reason if it waits. */
async function expectReadable(t: Stand, watch: Witness, view: JobView): Promise<void> {
	const shown = await t.show(view.id);
	if (JSON.stringify(shown) !== JSON.stringify(view)) expect(shorten(shown)).toEqual(shorten(view));
	const [stored] = watch.dump().job?.filter((row) => (row as { id: number }).id === view.id) ?? [];
	const [spec] = watch.dump().spec?.filter((row) => (row as { id: number }).id === view.id) ?? [];
	if (stored) expect(JSON.parse(JSON.stringify(view))).toMatchObject(pickShown(asRead(stored as Row)));
	expect(shorten(JSON.parse((spec as { body: string }).body))).toEqual(shorten(view.spec));
	expect((await t.reasons(view.id)).length > 0).toBe(isWaiting(view.status));
}
/** Long texts and lists cut, for a message that can be read. */
const shorten = (value: unknown): unknown =>
	JSON.parse(
		JSON.stringify(value, (_key, one) =>
			typeof one === "string" && one.length > 100
				? `${one.length} characters`
				: Array.isArray(one) && one.length > 20
					? `${one.length} entries`
					: one,
		),
	);
type Row = { doc: string; id: number; line: JobRow["line"]; bucket: number; status: Status; lane: string; due_at: number | null };
const asRead = ({ doc, id, line, bucket, status, lane, due_at }: Row) => unpack([doc, id, line, bucket, status, lane, due_at]);
function pickShown(document: object): Record<string, unknown> {
	return Object.fromEntries(
		Object.entries(document).filter(([key]) => ["id", "status", "kind", "lane", "priority", "created_at"].includes(key)),
	);
}

/** Adds, and holds the answer against the rule at the head of this file. */
async function tryAdd(t: Stand, watch: Witness, input: unknown, said: readonly string[]): Promise<AddResult | SluiceError> {
	const before = watch.text();
	let result: AddResult;
	try {
		result = await t.sluice.add(input as JobInput);
	} catch (error) {
		expectTyped(error, said);
		if (watch.text() !== before) expect.fail("the store has changed");
		return error as SluiceError;
	}
	if (result.outcome === "queued") await expectReadable(t, watch, result.job);
	else if (watch.text() !== before) expect.fail(`the store has changed, and the answer was ${result.outcome}`);
	return result;
}

describe("each field", () => {
	test.each(INPUT_KEYS)("%s", async (key) => {
		const { t, watch } = await setUp();
		const { good, with: base = { command: ["make"] }, said = [key] } = FIELDS[key];
		const fine = await tryAdd(t, watch, { ...base, [key]: good }, []);
		expect(fine).toMatchObject({ outcome: "queued" });
		await fc.assert(
			fc.asyncProperty(fc.oneof(wild, spoilt(good)), async ({ value, trap }) => {
				fc.pre(value !== undefined);
				await tryAdd(t, watch, { ...base, [key]: value }, trap ? [...said, "job"] : said);
			}),
			{ numRuns: 60 },
		);
	});
});

describe("the whole", () => {
	test("several fields at once", async () => {
		const { t, watch } = await setUp();
		const some = fc.uniqueArray(fc.tuple(fc.constantFrom(...INPUT_KEYS), wild), { minLength: 1, maxLength: 5, selector: ([key]) => key });
		await fc.assert(
			fc.asyncProperty(some, async (fields) => {
				const input = Object.fromEntries([["command", ["make"]], ...fields.map(([key, one]) => [key, one.value])]);
				const said = fields.flatMap(([key, one]) => [key, ...(FIELDS[key].said ?? []), ...(one.trap ? ["job"] : [])]);
				await tryAdd(t, watch, input, [...said, "command", "prompt", "source", "deadline"]);
			}),
			{ numRuns: 300 },
		);
	});

	test("anything but a job", async () => {
		const { t, watch } = await setUp();
		await fc.assert(
			fc.asyncProperty(wild, async ({ value }) => {
				await tryAdd(t, watch, value, ["job", "command", ...keysOf(value)]);
			}),
			{ numRuns: 200 },
		);
	});

	test("options that are none", async () => {
		const { t, watch } = await setUp();
		await fc.assert(
			fc.asyncProperty(fc.oneof(wild, spoilt({ by: "ann", reason: "why", force: true })), async ({ value }) => {
				const before = watch.text();
				try {
					await t.sluice.add({ command: ["make"] }, value as { force: boolean });
				} catch (error) {
					expectTyped(error, ["options", "by", "reason", "force", "unheard_of"]);
					if (watch.text() !== before) expect.fail("the store has changed");
				}
				await t.sluice.status();
			}),
			{ numRuns: 150 },
		);
	});
});

describe("keys that nobody knows", () => {
	test("one slip away from a key: the nearest is suggested", async () => {
		const { t, watch } = await setUp();
		for (const key of INPUT_KEYS) {
			const slips = [`${key}s`, `${key.slice(0, 2)}${key.slice(3)}`, `${key.slice(0, -1)}x`, key.slice(0, 1).toUpperCase() + key.slice(1)];
			for (const slip of slips) {
				if ((INPUT_KEYS as readonly string[]).includes(slip)) continue;
				const error = (await tryAdd(t, watch, { command: ["make"], [slip]: 1 }, [slip])) as SluiceError;
				expect(error).toMatchObject({ code: "unknown_key", field: slip });
				expect(error.hint).toMatch(/^did you mean "\w+"\?$/);
			}
		}
	});

	test("any other text", async () => {
		const { t, watch } = await setUp();
		const odd = [
			...["__proto__", "constructor", "toString", "", "\ud800"].map((key) => named(key, key)),
			named("a million", "x".repeat(1_000_000)),
		];
		const text = fc.oneof(
			fc.string({ unit: "binary" }).map((key) => named(JSON.stringify(key), key)),
			fc.constantFrom(...odd),
		);
		await fc.assert(
			fc.asyncProperty(text, wild, async (name, { value }) => {
				const key = name.value as string;
				fc.pre(!(INPUT_KEYS as readonly string[]).includes(key));
				const input = { command: ["make"] };
				Object.defineProperty(input, key, { value, enumerable: true });
				const error = await tryAdd(t, watch, input, [key]);
				expect(error).toMatchObject({ code: "unknown_key" });
			}),
			{ numRuns: 150 },
		);
	});
});

describe("references", () => {
	test("one predecessor under two names is one too many", async () => {
		const { t, watch } = await setUp();
		expect(await tryAdd(t, watch, { command: ["make"], after: [1, "first"] }, ["after"])).toBeInstanceOf(SluiceError);
		expect(await tryAdd(t, watch, { command: ["make"], after: ["second:any", "2:failure"] }, ["after"])).toBeInstanceOf(SluiceError);
	});

	test("a parent that is also named as a predecessor", async () => {
		const { t, watch } = await setUp();
		const result = await tryAdd(t, watch, { command: ["make"], parent: 1, parent_gate: "success", after: ["first"] }, ["after", "parent"]);
		if (!(result instanceof SluiceError))
			expect(result).toMatchObject({ outcome: "queued", job: { after: [{ job: 1, policy: "success" }] } });
	});

	test.each([
		[{ after: [99] }, "after[0]", "not_found"],
		[{ after: [1, "nobody"] }, "after[1]", "not_found"],
		[{ after: [{ job: 1, policy: "merged" }] }, "after", "impossible"],
		[{ parent: 99 }, "parent", "not_found"],
		[{ needs: ["job:99"] }, "needs", "not_found"],
		[{ name: "first" }, "name", "conflict"],
		[{ lane: "closed" }, "lane", "impossible"],
		[{ host_labels: ["mac"] }, "host_labels", "impossible"],
		[{ uses: { build: 3 } }, "uses.build", "impossible"],
		[{ deadline: NOON - 1 }, "deadline", "invalid"],
		[{ after: ["self"], name: "self" }, "after[0]", "not_found"],
	] as [JobInput, string, string][])("%j", async (more, field, code) => {
		const { t, watch } = await setUp();
		const error = (await tryAdd(t, watch, { command: ["make"], ...more }, [field])) as SluiceError;
		expect(error).toBeInstanceOf(SluiceError);
		expect(error.code).toBe(code);
		expect(error.field?.startsWith(field)).toBe(true);
	});

	test("a repo that no host has is the fault of the repo", async () => {
		const path = join(makeFolder(), "sluice.db");
		const t = await openStand({ path, config: CONFIG, join: { name: "h", repos: [] } });
		const watch = new Witness(path);
		onTestFinished(() => watch.close());
		expect(await tryAdd(t, watch, { command: ["make"], repo: "web" }, ["repo"])).toMatchObject({ code: "impossible" });
	});

	test("parents as deep as allowed, and not one deeper", async () => {
		const path = join(makeFolder(), "sluice.db");
		const t = await openStand({ path, config: { parents: { max_depth: 150, max_descendants: 1000 } } });
		const watch = new Witness(path);
		onTestFinished(() => watch.close());
		let parent = await t.add();
		for (let depth = 1; depth <= 150; depth++) parent = await t.add({ parent });
		expect((await t.show(parent)).depth).toBe(150);
		expect(await tryAdd(t, watch, { command: ["make"], parent }, ["parent"])).toMatchObject({
			code: "limit",
			message: "parent: depth 151, at most 150",
			hint: "raise it: sluice config set parents.max_depth N",
		});
	});

	test("no more descendants than allowed", async () => {
		const path = join(makeFolder(), "sluice.db");
		const t = await openStand({ path, config: { parents: { max_descendants: 3 } } });
		const watch = new Witness(path);
		onTestFinished(() => watch.close());
		const parent = await t.add();
		for (let n = 0; n < 3; n++) await t.add({ parent });
		expect(await tryAdd(t, watch, { command: ["make"], parent }, ["parent"])).toMatchObject({ code: "limit" });
	});

	test("nobody can ask for ten thousand generations", async () => {
		const { t } = await setUp();
		await expect(t.sluice.configure({ parents: { max_depth: 10_000 } })).rejects.toMatchObject({
			code: "invalid",
			field: "parents.max_depth",
		});
	});
});

describe("long texts", () => {
	const chars = (spec: { payload?: unknown } | undefined) => (spec?.payload as { text: string } | undefined)?.text.length;

	test.each([3_000, 5_000, 900_000])("%d characters are there in the answer", async (length) => {
		const { t } = await setUp();
		const added = await t.sluice.add({ payload: { text: "x".repeat(length) } });
		expect(added.outcome === "queued" && chars(added.job.spec)).toBe(length);
		expect(added.outcome === "queued" && chars((await t.show(added.job.id)).spec)).toBe(length);
	});

	test.each([3_000, 5_000, 900_000])("%d characters are handed to a claim in the same turn", async (length) => {
		const { t } = await setUp();
		for (let round = 0; round < 3; round++) {
			const [, claimed] = await Promise.all([
				t.sluice.add({ payload: { text: "x".repeat(length) } }),
				t.sluice.claim({ worker: "w", max: 9, kinds: ["payload"] }),
			]);
			expect(claimed.map((one) => chars(one.spec))).toEqual([length]);
		}
	});
});

describe("lists with holes", () => {
	test.each(["command", "host_labels", "after", "needs", "produces", "conditions", "locks"])("%s", async (key) => {
		const { t, watch } = await setUp();
		expect(await tryAdd(t, watch, { command: ["make"], [key]: Array(1) }, [key])).toBeInstanceOf(SluiceError);
	});
});

describe("what was given stays the caller's", () => {
	test("changing it afterwards, or before the answer has come, changes no job", async () => {
		const { t } = await setUp();
		const payload = { a: { b: 1 } };
		const adding = t.sluice.add({ payload });
		payload.a.b = 2;
		const result = await adding;
		payload.a.b = 3;
		if (result.outcome !== "queued") return expect.fail("not accepted");
		expect((await t.show(result.job.id)).spec.payload).toEqual({ a: { b: 1 } });
		const later = await t.reopen();
		expect((await later.show(result.job.id)).spec.payload).toEqual({ a: { b: 1 } });
	});

	test("changing what was answered changes no job", async () => {
		const { t } = await setUp();
		const id = await t.add({ payload: { a: { b: 1 } } });
		((await t.show(id)).spec.payload as { a: { b: number } }).a.b = 2;
		const claimed = await t.sluice.claim({ worker: "w", max: 9, kinds: ["payload"] });
		expect(claimed.map((one) => one.spec.payload)).toEqual([{ a: { b: 1 } }]);
		(claimed[0]!.spec.payload as { a: { b: number } }).a.b = 3;
		expect((await t.show(id)).spec.payload).toEqual({ a: { b: 1 } });
	});
});
