// Gate `review`: the cap on ended jobs whose work waits for a person.

import { expect, test } from "vitest";
import { makeBucket, worldAt } from "../../../../test/make/gates.ts";
import type { Bucket } from "../../bucket.ts";
import { type Config, DEFAULTS } from "../../config.ts";
import { isUnreviewed, type Job } from "../../job.ts";
import { review, reviewCap, reviewKey } from "./review.ts";

const world = worldAt(0);
const config = (max_open: number | null, own?: number | null): Config => ({
	...DEFAULTS,
	review: { max_open },
	repos: { web: { max: null, prefix: null, ...(own === undefined ? {} : { max_open: own }) } },
});
const ask = (bucket: Partial<Bucket>, settings: Config, open: number) =>
	review.ask(makeBucket(bucket), world({ config: settings, usage: new Map([[reviewKey("web"), open]]) }));
const OF_WEB = { repo: "web", merges: true } as const;

test("passes below the cap, without one, without a repo, and for jobs that merge nothing", () => {
	expect(ask(OF_WEB, config(3), 2)).toBeNull();
	expect(ask(OF_WEB, config(null), 99)).toBeNull();
	expect(ask({}, config(1), 99)).toBeNull();
	expect(ask({ repo: "web" }, config(1), 99)).toBeNull();
	expect(ask({ repo: "app", merges: true }, config(1), 99)).toBeNull();
});

test("refuses at the cap, also what was forced", () => {
	const reason = {
		gate: "review",
		code: "review",
		subject: "repo:web",
		detail: "repo web has 3 unreviewed of at most 3: their work waits for a person",
	};
	expect(ask(OF_WEB, config(3), 3)).toEqual([reason]);
	expect(ask({ ...OF_WEB, forced: true }, config(3), 3)).toEqual([reason]);
	expect(ask(OF_WEB, config(3), 5)?.[0]?.detail).toContain("5 unreviewed of at most 3");
});

test("a repo's own cap counts instead of the general one; null is none", () => {
	expect(reviewCap(config(3), "web")).toBe(3);
	expect(reviewCap(config(3, 1), "web")).toBe(1);
	expect(reviewCap(config(3, null), "web")).toBeNull();
	expect(reviewCap(config(3), "other")).toBe(3);
	expect(reviewCap(config(3), "constructor")).toBe(3);
});

test.each([
	["requested", {}, true],
	["conflict", {}, true],
	["verify_failed", {}, true],
	["base_dirty", {}, true],
	["pending", { merge_report: { uncommitted: true } }, true],
	["pending", {}, false],
	["merged", {}, false],
	["kept", {}, false],
	["none", {}, false],
	["requested", { will_merge: undefined }, false],
	["conflict", { status: "failed" }, false],
	["requested", { status: "queued" }, false],
] as [Job["merge_status"], Partial<Job>, boolean][])("a job with merge %s %j is unreviewed: %s", (merge_status, more, wanted) => {
	expect(isUnreviewed({ status: "succeeded", will_merge: true, merge_status, ...more })).toBe(wanted);
});
