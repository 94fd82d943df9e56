// Stored job documents: every field that `pack` leaves out is restored by `unpack`, and the hand-written JSON equals that of JSON.stringify.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Job } from "../../core/job.ts";
import { pack, type StoredJob, unpack, written } from "./document.ts";

const plain: Job = {
	id: 7,
	status: "queued",
	kind: "payload",
	lane: "default",
	trigger: "manual",
	priority: 0,
	created_at: 5,
	runnable_at: 5,
	attempt: 0,
	parked_on: "",
	bucket: 3,
	ready_at: 5,
};
const asRow = (doc: string, { id, parked_on: line, bucket, status, lane, due_at }: Job): StoredJob => [
	doc,
	id,
	line,
	bucket,
	status,
	lane,
	due_at ?? null,
];
const asEnded = (doc: string, { id, status, lane, ended_at }: Job): StoredJob => [doc, id, "end", 0, status, lane, null, ended_at ?? 0];

test("fields that columns hold, and default values, are left out", () => {
	expect(pack(plain, "job")).toBe('{"kind":"payload","created_at":5,"ready_at":5}');
	expect(unpack(asRow(pack(plain, "job"), plain))).toEqual(plain);
});

test("an exclusive lock is stored as its key, and the older form is read as well", () => {
	const locks: NonNullable<Job["locks"]> = [
		{ key: 'a "b"', mode: "exclusive" },
		{ key: "c", mode: "shared" },
	];
	const job: Job = { ...plain, locks };
	expect(JSON.parse(pack(job, "job")).locks).toEqual(['a "b"', { key: "c", mode: "shared" }]);
	expect(unpack(asRow(pack(job, "job"), job))).toEqual(job);
	expect(unpack(asRow(JSON.stringify(job), job))).toEqual(job);
});

test("values other than the defaults are stored", () => {
	const job: Job = { ...plain, trigger: "cron", priority: -3, runnable_at: 6, attempt: 2, name: 'a "b"\n', last_failure: "é\u2028" };
	const text = pack(job, "job");
	expect(JSON.parse(text)).toMatchObject({
		trigger: "cron",
		priority: -3,
		runnable_at: 6,
		attempt: 2,
		name: 'a "b"\n',
		last_failure: "é\u2028",
	});
	expect(unpack(asRow(text, job))).toEqual(job);
});

test("a running job's document repeats nothing", () => {
	const run = { attempt: 1, token: 4, host: "", worker: "w", started_at: 9 };
	const job: Job = {
		...plain,
		status: "running",
		parked_on: "run",
		attempt: 1,
		started_at: 9,
		due_at: 60,
		run: { ...run, lease_until: 60 },
	};
	expect(JSON.parse(pack(job, "job"))).toEqual({
		kind: "payload",
		created_at: 5,
		attempt: 1,
		ready_at: 5,
		started_at: 9,
		run: { token: 4, worker: "w", lease_until: true },
	});
	const intent = { kind: "cancelled" as const, reason: "x", by: "me", at: 10 };
	const others = [run, { ...run, lease_until: 61 }, { ...run, attempt: 2, host: "h", started_at: 8, launched: true, intent }];
	for (const one of [job, ...others.map((run) => ({ ...job, run })), { ...job, due_at: undefined }])
		expect(unpack(asRow(pack(one, "job"), one))).toEqual(one);
});

test("an ended job keeps its bucket, and what it was parked on if that is not `end`", () => {
	const last_run = { attempt: 1, host: "", worker: "w", started_at: 6 };
	const ended: Job = { ...plain, status: "succeeded", parked_on: "end", attempt: 1, started_at: 6, ended_at: 8, last_run };
	expect(JSON.parse(pack(ended, "done"))).toEqual({
		kind: "payload",
		created_at: 5,
		ready_at: 5,
		attempt: 1,
		started_at: 6,
		bucket: 3,
		last_run: { worker: "w" },
	});
	const others = [
		{ parked_on: "late" as const },
		{ ended_at: 0 },
		{ ended_at: undefined },
		{ due_at: 9 },
		{ last_run: { ...last_run, host: "h", account: "a" } },
	];
	for (const other of [{}, ...others]) {
		const job = { ...ended, ...other };
		expect(unpack(asEnded(pack(job, "done"), job))).toEqual(job);
	}
});

test("a document of an older version, with all of its fields, is read as well", () => {
	const job: Job = { ...plain, run: { attempt: 1, token: 4, host: "h", worker: "w", started_at: 9 } };
	expect(unpack(asRow(JSON.stringify(job), job))).toEqual(job);
	const { parked_on: line, ...others } = { ...job, parked_on: "lock:shared:db" as const };
	const read = unpack(asRow(JSON.stringify({ ...others, line }), { ...others, parked_on: line }));
	expect(read).toEqual({ ...others, parked_on: line });
	expect(pack(read, "job")).not.toContain("line");
});

test("a text that is no document is not taken for one", () => {
	for (const text of ["", "null", "{", '"x']) expect(() => unpack(asRow(text, plain))).toThrow();
});

test("written as JSON.stringify writes it", () => {
	const value = fc.oneof(fc.jsonValue(), fc.string({ unit: "binary" }), fc.double(), fc.constant(undefined));
	fc.assert(
		fc.property(fc.dictionary(fc.string({ unit: "binary" }), value), (data) => {
			// A key that sets the prototype never occurs in stored data.
			fc.pre(!("__proto__" in data) || !Object.hasOwn(data, "__proto__"));
			expect(written(data)).toBe(JSON.stringify(data));
		}),
	);
});
