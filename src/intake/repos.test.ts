// Which repo an item belongs to.

import { describe, expect, test } from "vitest";
import { repoFor, repoOfPrefix } from "./repos.ts";

const repos = { gastown: { prefix: "gt-" }, ui: { prefix: "gt-ui-" }, beads: { prefix: "be-" }, free: { prefix: null } };
const choose = (id: string, named?: string, force = false) => repoFor(id, { named, usual: "usual", repos, force, prefixed: true });
const ofBeads = (id: string, known: Parameters<typeof repoOfPrefix>[1]) =>
	repoFor(id, { named: undefined, usual: null, repos: known, force: false, prefixed: true });

describe("a repo for an item", () => {
	test("the longest prefix counts", () => {
		expect(["gt-1", "gt-ui-1", "be-1", "zz-1"].map((id) => repoOfPrefix(id, repos))).toEqual(["gastown", "ui", "beads", null]);
	});
	test("the named repo, if it matches; else the repo of the prefix; else the source's", () => {
		expect([choose("gt-1"), choose("zz-1"), choose("gt-1", "gastown"), choose("zz-1", "free")]).toEqual([
			"gastown",
			"usual",
			"gastown",
			"free",
		]);
	});
	test("a named repo that does not match is refused with the right command, unless forced", () => {
		expect(() => choose("gt-1", "beads")).toThrow("gt-1 has the prefix of repo gastown, not of beads");
		expect(() => choose("gt-ui-1", "gastown")).toThrow("has the prefix of repo ui");
		expect(() => choose("zz-1", "beads")).toThrow('zz-1 does not begin with "be-", the prefix of repo beads');
		expect(choose("gt-1", "beads", true)).toBe("beads");
		try {
			choose("gt-1", "beads");
		} catch (error) {
			expect((error as { hint: string }).hint).toBe("sluice sling gt-1 gastown, or with --force: sluice sling gt-1 beads --force");
		}
	});
	test("a prefix of no repo is refused: the prefix, the known ones, what to type", () => {
		expect(() => ofBeads("xx-1", repos)).toThrow(
			expect.objectContaining({
				code: "not_found",
				field: "repo",
				message: 'xx-1: no repo has the prefix "xx-"; known: gt- (gastown), gt-ui- (ui), be- (beads)',
				hint: "say whose it is: sluice config set repos.free.prefix xx-; or for this once: sluice sling xx-1 --repo free --force",
			}),
		);
		expect(() => ofBeads("plain", { gastown: { prefix: "gt-" } })).toThrow(
			expect.objectContaining({
				message: "plain begins with the prefix of no repo; known: gt- (gastown)",
				hint: "say whose it is: sluice repo add FOLDER --prefix PREFIX; or for this once: sluice sling plain --repo gastown --force",
			}),
		);
	});
	test("where no repo has a prefix, ids say nothing of repos: none", () => {
		expect([ofBeads("xx-1", {}), ofBeads("xx-1", { free: { prefix: null } })]).toEqual([null, null]);
	});
});
