// Documents as they are stored: whatever is left out comes back, and what is written by hand is what JSON.stringify would write.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Job } from "../../core/job.ts";
import { pack, unpack, written } from "./document.ts";

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
	line: "",
	bucket: 3,
	ready_at: 5,
};
const columns = ({ id, line, bucket, status, lane }: Job) => [id, line, bucket, status, lane];

test("what stands in columns and what nearly all have is left out", () => {
	expect(pack(plain, "job")).toBe('{"kind":"payload","created_at":5,"ready_at":5}');
	expect(unpack(pack(plain, "job"), columns(plain))).toEqual(plain);
});

test("what is not as usual stays", () => {
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
	expect(unpack(text, columns(job))).toEqual(job);
});

test("one in history keeps its bucket, and a line that is not the end's", () => {
	const ended: Job = { ...plain, status: "succeeded", line: "end", last_run: { attempt: 1, host: "", worker: "w", started_at: 6 } };
	expect(JSON.parse(pack(ended, "done"))).toMatchObject({ bucket: 3, last_run: { attempt: 1, host: "", worker: "w", started_at: 6 } });
	for (const job of [ended, { ...ended, line: "late" }])
		expect(unpack(pack(job, "done"), [job.id, "end", 0, job.status, job.lane])).toEqual(job);
});

test("a document with all of its fields is read as well", () => {
	const job: Job = { ...plain, run: { attempt: 1, token: 4, host: "h", worker: "w", started_at: 9 } };
	expect(unpack(JSON.stringify(job), columns(job))).toEqual(job);
});

test("a text that is no document is not taken for one", () => {
	for (const text of ["", "null", "{", '"x']) expect(() => unpack(text, columns(plain))).toThrow();
});

test("written as JSON.stringify writes it", () => {
	const value = fc.oneof(fc.jsonValue(), fc.string({ unit: "binary" }), fc.double(), fc.constant(undefined));
	fc.assert(
		fc.property(fc.dictionary(fc.string({ unit: "binary" }), value), (data) => {
			// A key that sets the prototype is no data of ours.
			fc.pre(!("__proto__" in data) || !Object.hasOwn(data, "__proto__"));
			expect(written(data)).toBe(JSON.stringify(data));
		}),
	);
});
