// What is cut from long answers, and the notes about it.

import { describe, expect, test } from "vitest";
import { bounded } from "./bounds.ts";

const size = (value: unknown) => JSON.stringify(value).length;
const jobs = (count: number, more: object = {}) =>
	Array.from({ length: count }, (_, index) => ({ id: index + 1, status: "queued", ...more }));

describe("bounded", () => {
	test("short answers stay whole, except for null and empty fields of jobs and lists", () => {
		const given = {
			job: { id: 1, name: null, after: [], env: {}, depth: 0, blocked: false },
			reasons: [{ code: "turn", since: null }],
			position: null,
		};
		expect(bounded("job.why", given)).toEqual({
			document: { job: { id: 1, depth: 0, blocked: false }, reasons: [{ code: "turn" }], position: null },
			notes: [],
		});
	});

	test("a list is cut to fit, with a note on how to continue", () => {
		const { document, notes } = bounded("job.list", { jobs: jobs(2000, { title: "x".repeat(100) }) });
		const kept = document.jobs as { id: number }[];
		expect(size(document)).toBeLessThan(41_000);
		expect(kept.length).toBeGreaterThan(100);
		expect(notes).toEqual([expect.stringContaining(`${kept.length} of 2000 jobs are shown: ask again with \`after: ${kept.length}\``)]);
	});

	test("a full page may be followed by another", () => {
		expect(bounded("job.list", { jobs: jobs(3) }, 3).notes).toEqual([expect.stringContaining("`after: 3`")]);
		expect(bounded("job.list", { jobs: jobs(2) }, 3).notes).toEqual([]);
		expect(bounded("job.list", { jobs: [] }, 3).notes).toEqual([]);
	});

	test("a graph keeps nodes and edges; a drawing whole lines", () => {
		const edges = Array.from({ length: 5000 }, (_, index) => ({ from: index, to: index + 1 }));
		const { document, notes } = bounded("job.graph", { nodes: jobs(5000), edges });
		expect(size(document)).toBeLessThan(45_000);
		expect(Math.min((document.nodes as unknown[]).length, (document.edges as unknown[]).length)).toBeGreaterThan(10);
		expect(notes).toHaveLength(2);
		const drawn = bounded("job.graph", { format: "dag", text: "1 queued [default]\n".repeat(10_000) });
		expect(String(drawn.document.text)).toMatch(/^(?:1 queued \[default\]\n)+$/);
		expect(drawn.notes).toEqual([expect.stringContaining("of 190000 characters")]);
	});

	test("secondary lists, payloads and long texts are cut, too, each with a note", () => {
		const path = Array.from({ length: 5000 }, (_, index) => ({ job: index, because: "lane code", start: "now", end: "then" }));
		const forecast = bounded("scheduler.forecast", { jobs: jobs(3000), critical_path: path, notes: [] });
		expect(size(forecast.document)).toBeLessThan(60_000);
		expect(forecast.notes.join("\n")).toMatch(/of 3000 jobs[\s\S]*of 5000 critical_path/);
		const job = { id: 1, prompt: "p".repeat(9000), payload: Array.from({ length: 30_000 }, () => 7), vars: { a: "b".repeat(50_000) } };
		const shown = bounded("job.show", { job });
		expect(size(shown.document)).toBeLessThan(45_000);
		expect(shown.notes.length).toBeGreaterThan(0);
		expect((shown.document.job as { prompt: string }).prompt).toMatch(/^p{4000}… \(5000 more characters\)$/);
	});
});
