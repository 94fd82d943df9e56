// What a repo may say itself, and when it counts; and its keys in config.yml, which are the engine's and the daemon's.

import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../test/make/folder.ts";
import { localHost } from "../host/local.ts";
import { SILENT } from "../log.ts";
import { openConfigFile } from "./config-file.ts";
import { withRepoFile } from "./repo-file.ts";
import { REPO } from "./settings.ts";

function repoWith(text: string, trusted: boolean | "this" = "this") {
	const path = makeFolder();
	writeFileSync(join(path, "sluice.yml"), text);
	const hash = createHash("sha256").update(text).digest("hex");
	return { ...REPO, max: null, prefix: null, path, trusted: trusted === "this" ? hash : trusted };
}

describe("a repo's sluice.yml", () => {
	const TEXT = "base_branch: develop\nhook_timeout: 5s\nhooks: {before_run: [make, deps]}\nverify: [make, test]\nmax: 1\nprefix: ap-\n";

	test("counts when this very text is trusted, and over the home's configuration", () => {
		const { settings, file } = withRepoFile({ ...repoWith(TEXT), base_branch: "main" });
		expect(file.state).toBe("trusted");
		expect(settings).toMatchObject({ base_branch: "develop", hook_timeout_ms: 5000, verify: ["make", "test"], max: 1, prefix: "ap-" });
		expect(settings.hooks).toEqual({ ...REPO.hooks, before_run: ["make", "deps"] });
	});

	test("does not count untrusted, or once it has changed", () => {
		const untrusted = repoWith(TEXT, false);
		expect(withRepoFile(untrusted)).toMatchObject({ settings: untrusted, file: { state: "untrusted" } });
		const changed = repoWith(TEXT);
		writeFileSync(join(changed.path, "sluice.yml"), TEXT.replace("make", "rm"));
		expect(withRepoFile(changed)).toMatchObject({ settings: changed, file: { state: "changed" } });
		expect(withRepoFile({ ...repoWith("", true), path: makeFolder() }).file.state).toBe("none");
	});

	test.each([
		["path: /elsewhere", "sluice.yml:1:1: path: there is no such key"],
		["trusted: true", "sluice.yml:1:1: trusted: there is no such key"],
		["max: many", "sluice.yml:1:1: max: "],
		["lanes: {default: {max: 99}}", "sluice.yml:1:1: lanes: there is no such key"],
		["base_branch: --exec=x", 'sluice.yml:1:1: base_branch: the branch name "--exec=x" looks like an option'],
		["hooks: [", "sluice.yml:1:9"],
	])("that says %s is wrong as a whole, with the place", (text, problem) => {
		const { file } = withRepoFile(repoWith(text, true));
		expect(file.state === "bad" && file.problem).toContain(problem);
	});
});

describe("repos in config.yml", () => {
	const open = (text: string) => {
		const path = join(makeFolder(), "config.yml");
		writeFileSync(path, text);
		const file = openConfigFile({ path, host: localHost, log: SILENT });
		onTestFinished(() => file.close());
		return file;
	};

	test("are the engine's and the daemon's, shown as one", async () => {
		const file = open("repos: {app: {path: /src/app/, max: 2, prefix: ap-, hook_timeout: 5s, merge: mr}, label: {}}\n");
		expect(file.engine().repos).toEqual({ app: { max: 2, prefix: "ap-" }, label: { max: null, prefix: null } });
		expect(file.settings().repos.app).toMatchObject({ path: "/src/app", hook_timeout_ms: 5000, merge: "mr", trusted: false });
		expect(file.get("repos.app.max")).toEqual([{ key: "repos.app.max", value: 2, origin: "config.yml:1:32" }]);
		expect(file.get("repos.app.merge")).toMatchObject([{ value: "mr" }]);
		await file.set("repos.app.hooks.before_run", ["make"]);
		expect(file.settings().repos.app?.hooks.before_run).toEqual(["make"]);
		await file.unset("repos.app");
		expect([Object.keys(file.engine().repos), Object.keys(file.settings().repos)]).toEqual([["label"], ["label"]]);
	});

	test.each([
		["repos: {app: {pth: /x}}", "config.yml:1:15: repos.app.pth: there is no such key"],
		["repos: {app: {path: src/app}}", 'repos.app.path: "src/app" is not an absolute path'],
		["repos: {app: {merge: rebase}}", "repos.app.merge: must be one of direct, mr, local"],
		["repos: {app: {verify: make test}}", "repos.app.verify"],
		["repos: {app: {base_branch: -x}}", 'repos.app.base_branch: the branch name "-x" looks like an option'],
		["repos: {a/b: {}}", "is not a name"],
		["repos: [app]", "repos"],
	])("%s is refused with its place", (text, message) => {
		expect(() => open(text)).toThrow(message);
	});
});
