// What a sling reports: items that the hard limit keeps out, and errors, which name the item once.

import { describe, expect, test } from "vitest";
import { plainItem } from "../contracts/source.ts";
import { SluiceError } from "../core/errors.ts";
import { fullWords, type SlingParts, sling } from "./sling.ts";

test("the depth of each lane is named, if any job waited before", () => {
	const full = { limit: 16, hint: "retry later" };
	expect(fullWords({ ...full, depths: { implement: 9, review: 7 } })).toBe(
		"deferred: the queue is at its hard limit of 16 (implement: 9, review: 7)",
	);
	expect(fullWords({ ...full, depths: {} })).toBe("deferred: the queue is at its hard limit of 16");
});

describe("an error names the item", () => {
	const slung = (error: SluiceError, fails: "read" | "apply") => {
		const fail = () => Promise.reject(error);
		const parts = {
			survey: () => (fails === "read" ? fail : async (id: string) => plainItem("cards", id)),
			scheduler: { lastEvent: async () => 0, apply: fail },
			usual: () => ({ repo: null, lane: null, recipe: null, agent: null, root: "/", prefixed: false }),
			repos: () => ({}),
		} as unknown as SlingParts;
		return sling(parts, { ids: ["A-1"], raw: true }, { by: "test" });
	};

	test.each([
		["that a source reports of another field", "read", "line 3: no colon", "front matter", "A-1: line 3: no colon"],
		["that a source reports of the item", "read", "two cards have the code A-1", "item", "two cards have the code A-1"],
		["of a job's field", "apply", 'jobs[0].lane: there is no lane "x"', "jobs[0].lane", 'A-1: there is no lane "x"'],
		["of a job's item", "apply", "jobs[0].item: item A-1 is closed", "jobs[0].item", "item A-1 is closed"],
		["of no job", "apply", "the queue is closed", undefined, "the queue is closed"],
	] as const)("%s", async (_, fails, message, field, said) => {
		await expect(slung(new SluiceError("invalid", message, { field }), fails)).rejects.toMatchObject({
			message: said,
			field: field?.replace("jobs[0].", ""),
		});
	});
});
