// Every field of `apply`, given anything: all of it goes in, or nothing does and the error names the field of the job.

import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { isWaiting } from "../../src/core/job.ts";
import { INPUT_KEYS } from "../../src/core/schema/job.ts";
import { type ApplyResult, type JobInput, type Manifest, SluiceError } from "../../src/index.ts";
import { makeFolder } from "../make/folder.ts";
import { openStand, type Stand, type StandOptions } from "../make/stand.ts";
import { expectTyped, keysOf, spoilt, Witness, wild } from "./wild.ts";

const CONFIG = { repos: { web: {} }, accounts: { work: {} }, resources: { build: 2 } };
const STAGED = 301;

async function setUp(options: StandOptions = {}): Promise<{ t: Stand; watch: Witness }> {
	const path = join(makeFolder(), "sluice.db");
	const t = await openStand({ path, config: CONFIG, ...options });
	await t.add({ name: "first" });
	const watch = new Witness(path);
	onTestFinished(() => watch.close());
	return { t, watch };
}

const plain = (count: number, more: (index: number) => object = () => ({})): JobInput[] =>
	Array.from({ length: count }, (_, index) => ({ command: ["make"], ...more(index) }));

/** What was in the way of counting on: numbers that were given out are not given again. */
function withoutNumbers(dump: Record<string, unknown[]>): string {
	const records = (dump.record as { kind: string; key: string }[]).filter((row) => !(row.kind === "meta" && row.key === "ids"));
	return JSON.stringify({ ...dump, record: records });
}

async function tryApply(t: Stand, watch: Witness, manifest: unknown, said: readonly string[]): Promise<ApplyResult | SluiceError> {
	const before = watch.text();
	try {
		const result = await t.sluice.apply(manifest as Manifest);
		for (const id of result.jobs.slice(0, 3)) {
			const view = await t.show(id);
			expect((await t.reasons(id)).length > 0).toBe(isWaiting(view.status));
		}
		return result;
	} catch (error) {
		expectTyped(error, said);
		if (watch.text() !== before) expect.fail("the store has changed");
		return error as SluiceError;
	}
}

describe("the manifest", () => {
	test("anything but one", async () => {
		const { t, watch } = await setUp();
		const good = { defaults: { lane: "default" }, jobs: [{ command: ["make"] }], batch: "b" };
		await fc.assert(
			fc.asyncProperty(fc.oneof(wild, spoilt(good)), async ({ value }) => {
				await tryApply(t, watch, value, ["manifest", "jobs", "defaults", "batch", ...keysOf(value)]);
			}),
			{ numRuns: 300 },
		);
	});
	test.each(["defaults", "jobs", "batch"])("%s", async (key) => {
		const { t, watch } = await setUp();
		await fc.assert(
			fc.asyncProperty(wild, async ({ value, trap }) => {
				fc.pre(value !== undefined);
				const said = [key, ...(key === "defaults" ? ["jobs[0]"] : []), ...(trap ? ["manifest", "jobs"] : [])];
				await tryApply(t, watch, { jobs: [{ command: ["make"] }], [key]: value }, said);
			}),
			{ numRuns: 100 },
		);
	});

	test.each([
		[{ job: [] }, "job", 'did you mean "jobs"?'],
		[{ jobs: [], default: {} }, "default", 'did you mean "defaults"?'],
		[{ jobs: [], bach: "b" }, "bach", 'did you mean "batch"?'],
	])("%j", async (manifest, field, hint) => {
		const { t, watch } = await setUp();
		expect(await tryApply(t, watch, manifest, [field])).toMatchObject({ code: "unknown_key", field, hint });
	});

	test("an empty one is no mistake", async () => {
		const { t, watch } = await setUp();
		expect(await tryApply(t, watch, { jobs: [] }, [])).toEqual({ jobs: [], names: {}, skipped: [] });
	});

	test.each([
		[{ nmae: "x" }, "nmae"],
		[{ priority: "high" }, "priority"],
		[{ retry: { max: -1 } }, "retry.max"],
	])("a fault in the defaults (%j) is said to be there", async (defaults, field) => {
		const { t, watch } = await setUp();
		const error = (await tryApply(t, watch, { defaults, jobs: plain(2) }, ["defaults"])) as SluiceError;
		expect(error.field).toBe(`defaults.${field}`);
		expect(await tryApply(t, watch, { defaults, jobs: [] }, ["defaults"])).toBeInstanceOf(SluiceError);
	});

	test("holes among the jobs", async () => {
		const { t, watch } = await setUp();
		expect(await tryApply(t, watch, { jobs: [{ command: ["make"] }, ...Array(1)] }, ["jobs[1]"])).toBeInstanceOf(SluiceError);
		const holed = plain(1);
		holed.length = 3;
		expect(await tryApply(t, watch, { jobs: holed }, ["jobs[1]"])).toBeInstanceOf(SluiceError);
	});
});

describe("each field of a job", () => {
	/** Where else a fault may be said to be, within the job. */
	const also: Partial<Record<(typeof INPUT_KEYS)[number], string[]>> = { agent: ["command", "prompt"], command: ["agent"] };

	test.each(INPUT_KEYS)("%s", async (key) => {
		const { t, watch } = await setUp();
		await fc.assert(
			fc.asyncProperty(wild, fc.integer({ min: 0, max: 3 }), async ({ value, trap }, at) => {
				fc.pre(value !== undefined);
				const jobs = plain(4, (index) => (index === at ? { [key]: value } : {}));
				const said = [key, ...(also[key] ?? [])].map((one) => `jobs[${at}].${one}`);
				await tryApply(t, watch, { jobs }, trap ? [...said, `jobs[${at}]`, "jobs"] : said);
			}),
			{ numRuns: 25 },
		);
	});

	test("anything but a job among the jobs", async () => {
		const { t, watch } = await setUp();
		await fc.assert(
			fc.asyncProperty(wild, fc.integer({ min: 0, max: 3 }), async ({ value, trap }, at) => {
				const jobs: unknown[] = plain(4);
				jobs[at] = value;
				await tryApply(t, watch, { jobs }, [`jobs[${at}]`, ...(trap ? ["jobs"] : [])]);
			}),
			{ numRuns: 150 },
		);
	});
});

describe("cycles", () => {
	/** A ring of jobs; each comes after the one before it, the first after the last. */
	const ringOf = (length: number, policy: string) =>
		plain(length, (index) => ({ name: `n${index}`, after: [`n${(index + length - 1) % length}:${policy}`] }));

	test("of every length from 1 to 200", async () => {
		const { t, watch } = await setUp();
		for (let length = 1; length <= 200; length++) {
			const error = (await tryApply(t, watch, { jobs: ringOf(length, length % 2 ? "success" : "any") }, ["jobs[0].after"])) as SluiceError;
			expect(error.code).toBe("cycle");
			const path = /^after: (.*) is a cycle$/.exec(error.message)?.[1]?.split(" → ") ?? [];
			expect(path[0]).toBe(path[path.length - 1]);
			if (length < 19) expect(path.length).toBe(length + 1);
			for (let step = 1; step < path.length; step++) {
				if (path[step] === "…" || path[step - 1] === "…") continue;
				expect(Number(path[step]?.slice(1))).toBe((Number(path[step - 1]?.slice(1)) + length - 1) % length);
			}
		}
	});

	test("of 10,000", async () => {
		const { t, watch } = await setUp();
		const error = (await tryApply(t, watch, { jobs: ringOf(10_000, "success") }, ["jobs[0].after"])) as SluiceError;
		expect(error).toMatchObject({ code: "cycle", hint: "take one of these edges out" });
		expect(error.message.length).toBeLessThan(500);
	});

	test("somewhere in a graph that is none otherwise", async () => {
		const { t, watch } = await setUp();
		const graph = fc.record({
			edges: fc.array(fc.tuple(fc.nat({ max: 39 }), fc.nat({ max: 39 })), { maxLength: 60 }),
			ring: fc.uniqueArray(fc.nat({ max: 39 }), { minLength: 1, maxLength: 40 }),
		});
		await fc.assert(
			fc.asyncProperty(graph, async ({ edges, ring }) => {
				const after = Array.from({ length: 40 }, () => new Set<number>());
				for (const [a, b] of edges) if (a < b) after[b]?.add(a);
				ring.forEach((node, index) => {
					after[node]?.add(ring[(index + 1) % ring.length] as number);
				});
				const jobs = plain(40, (index) => ({ name: `n${index}`, after: [...(after[index] ?? [])].map((pred) => `n${pred}`) }));
				const error = (await tryApply(t, watch, { jobs }, ["jobs"])) as SluiceError;
				expect(error.code).toBe("cycle");
				expect(error.field).toMatch(/^jobs\[\d+\]\.after$/);
			}),
			{ numRuns: 50 },
		);
	});

	test("a job after itself, by its own name", async () => {
		const { t, watch } = await setUp();
		expect(await tryApply(t, watch, { jobs: [{ command: ["make"], name: "a", after: ["a:failure"] }] }, ["jobs[0].after"])).toMatchObject({
			code: "cycle",
			message: "after: a → a is a cycle",
		});
	});
});

describe("deep and wide", () => {
	test("a chain of 10,000 goes in, in its order, and its first can start", async () => {
		const { t, watch } = await setUp();
		const jobs = plain(10_000, (index) => ({ name: `n${index}`, ...(index > 0 ? { after: [`n${index - 1}`] } : {}) })).reverse();
		const result = (await tryApply(t, watch, { jobs }, [])) as ApplyResult;
		expect(result.jobs.length).toBe(10_000);
		const [first, second, last] = ["n0", "n1", "n9999"].map((name) => result.names[name] as number) as [number, number, number];
		expect([await t.status(first), await t.status(second), await t.status(last)]).toEqual(["queued", "waiting_on_deps", "waiting_on_deps"]);
		expect((await t.reasons(last)).map((reason) => reason.detail)).toContain(`waiting on job ${result.names.n9998}`);
		expect((await t.start()).sort((a, b) => a - b)).toEqual([1, first].sort((a, b) => a - b));
	});

	test("parents ten thousand deep cannot be asked for: the first that is not there is named", async () => {
		const { t, watch } = await setUp();
		const jobs = plain(10_000, (index) => ({ parent: index + 2 }));
		const error = (await tryApply(t, watch, { jobs }, ["jobs"])) as SluiceError;
		expect(error.code).toBe("not_found");
		expect(error.field).toMatch(/^jobs\[\d+\]\.parent$/);
	});

	test("one job after ten thousand, and ten thousand after one", async () => {
		const { t, watch } = await setUp();
		const jobs = [
			...plain(2000, (index) => ({ name: `n${index}` })),
			...plain(1, () => ({ name: "all", after: Array.from({ length: 2000 }, (_, index) => `n${index}:any`) })),
			...plain(2000, () => ({ after: ["all"] })),
		];
		const result = (await tryApply(t, watch, { jobs }, [])) as ApplyResult;
		expect((await t.show(result.names.all as number)).after.length).toBe(2000);
	});

	test("no more descendants than allowed, however many come at once", async () => {
		const { t, watch } = await setUp({ config: { parents: { max_descendants: 5 } } });
		expect(await tryApply(t, watch, { jobs: plain(6, () => ({ parent: 1 })) }, ["jobs[5].parent"])).toMatchObject({ code: "limit" });
		expect(await tryApply(t, watch, { jobs: plain(5, () => ({ parent: 1 })) }, [])).toMatchObject({ skipped: [] });
	});
});

describe("all or nothing", () => {
	const FAULTS: [string, object, string][] = [
		["an unknown key", { comand: ["x"] }, "comand"],
		["a wrong type", { priority: "high" }, "priority"],
		["a predecessor that is not there", { after: [999_999] }, "after[0]"],
		["a name that is not there", { after: ["nobody"] }, "after[0]"],
		["a parent that is not there", { parent: 999_999 }, "parent"],
		["a needed job that is not there", { needs: ["job:999999"] }, "needs"],
		["a merge that will not be", { after: [{ job: 1, policy: "merged" }] }, "after"],
		["a name that stands twice", { name: "twice" }, "name"],
		["a label that no host has", { host_labels: ["mac"] }, "host_labels"],
		["one predecessor under two names", { after: [1, "first"] }, "after"],
	];

	test.each(FAULTS)("%s, among a few", async (_name, bad, field) => {
		const { t, watch } = await setUp();
		for (const at of [0, 5, 9]) {
			const jobs = plain(10, (index) => (index === at ? bad : index === 7 ? { name: "twice" } : {}));
			const said = [`jobs[${at}].${field}`, ...(field === "name" ? ["jobs[7].name"] : [])];
			expect(await tryApply(t, watch, { jobs }, said)).toBeInstanceOf(SluiceError);
		}
	});

	test.each(FAULTS)("%s, at the end of many", async (_name, bad, field) => {
		const { t, watch } = await setUp();
		const before = withoutNumbers(watch.dump());
		const jobs = plain(STAGED + 50, (index) =>
			index === STAGED + 49 ? bad : index === 7 ? { name: "twice" } : { batch: "b", unique: { key: `k${index}` } },
		);
		const error = await t.sluice.apply({ jobs }).then(
			() => expect.fail("it was accepted"),
			(error: unknown) => error,
		);
		expectTyped(error, [`jobs[${STAGED + 49}].${field}`]);
		await t.sluice.tick();
		if (withoutNumbers(watch.dump()) !== before) expect(JSON.parse(withoutNumbers(watch.dump()))).toEqual(JSON.parse(before));
		expect(await t.sluice.list({ all: true })).toHaveLength(1);
	});

	test.each([10, STAGED])("a refused one of %d has replaced nobody", async (count) => {
		const { t, watch } = await setUp();
		const twin = await t.add({ unique: { key: "k" } });
		const jobs = plain(count, (index) =>
			index === 0 ? { unique: { key: "k", policy: "replace" } } : index === count - 1 ? { parent: 999_999 } : {},
		);
		expect(await tryApply(t, watch, { jobs }, [`jobs[${count - 1}].parent`])).toBeInstanceOf(SluiceError);
		expect(await t.status(twin)).toBe("queued");
	});

	test.each([10, STAGED])("a refused one of %d has left no facts behind", async (count) => {
		const { t, watch } = await setUp();
		t.host.facts.set("artifact:file:x", true);
		const jobs = plain(count, (index) => (index === 0 ? { needs: ["file:x"] } : index === count - 1 ? { parent: 999_999 } : {}));
		expect(await tryApply(t, watch, { jobs }, [`jobs[${count - 1}].parent`])).toBeInstanceOf(SluiceError);
	});
});

describe("twins within one manifest", () => {
	test.each([2, STAGED])("%d jobs with one unique key are one job", async (count) => {
		const { t, watch } = await setUp();
		const result = (await tryApply(t, watch, { jobs: plain(count, () => ({ unique: { key: "k" } })) }, [])) as ApplyResult;
		expect(result.jobs).toHaveLength(1);
		expect(result.skipped.map((one) => one.reason)).toEqual(Array(count - 1).fill("duplicate"));
	});

	test("with the policy error they are refused", async () => {
		const { t, watch } = await setUp();
		const error = await tryApply(t, watch, { jobs: plain(2, () => ({ unique: { key: "k", policy: "error" } })) }, ["jobs[1].unique"]);
		expect(error).toMatchObject({ code: "conflict" });
	});
});

describe("others meanwhile", () => {
	test("a name that somebody else takes while many come in stands for one job only", async () => {
		const { t } = await setUp();
		const jobs = plain(STAGED + 300, (index) => ({ name: `n${index}` }));
		const settled = await Promise.allSettled([
			t.sluice.apply({ jobs }),
			...[0, 300, 600].map((at) => later(at, () => t.sluice.add({ command: ["x"], name: `n${at}` }))),
		]);
		for (const one of settled) if (one.status === "rejected") expectTyped(one.reason, ["name", "jobs", "manifest"]);
		const names = (await t.sluice.list({ limit: 10_000 })).flatMap((job) => job.name ?? []);
		expect(names.length).toBe(new Set(names).size);
	});

	test("calls that fail in the same turns leave the counts as they should be", async () => {
		const { t, watch } = await setUp();
		t.host.facts.set("artifact:file:x", true);
		const failed = await t.done({}, "failed");
		let going = true;
		// Each of these fails after it has written something: the group it is in runs again, one by one.
		const noise = (async () => {
			while (going) await t.sluice.add({ command: ["x"], needs: ["file:x"], parent: 999_999 }).catch(() => {});
		})();
		const jobs = plain(STAGED + 300, (index) =>
			index % 3 === 0 ? { after: [failed], batch: "b" } : index % 3 === 1 ? { locks: ["k"] } : {},
		);
		const result = await t.sluice.apply({ jobs });
		going = false;
		await noise;
		const views = await t.sluice.list({ all: true, limit: 10_000 });
		const waiting = views.filter((job) => isWaiting(job.status)).length;
		expect(result.jobs.length).toBe(STAGED + 300);
		expect(views.filter((job) => job.status === "blocked_by_dependency").length).toBe(Math.ceil((STAGED + 300) / 3));
		expect((await t.sluice.status()).queued_total).toBe(waiting);
		const seqs = (watch.dump().event as { seq: number }[]).map((row) => row.seq);
		expect(new Set(seqs).size).toBe(seqs.length);
	});

	const later = async <T>(turns: number, call: () => Promise<T>): Promise<T> => {
		for (let turn = 0; turn < turns / 100; turn++) await new Promise((resolve) => setImmediate(resolve));
		return call();
	};
});
