// What a repo's own file may set and when it counts; and the repo's keys in config.yml, which belong partly to the engine and partly to the daemon.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import { SILENT } from "../../contracts/log.ts";
import { REPO_DEFAULT } from "../../core/schema/repo.ts";
import { localHost } from "../../host/local.ts";
import { openConfigFile } from "../config/file.ts";
import { withRepoFile } from "./file.ts";
import { createRepos } from "./repos.ts";
import { lostTrust, trustChecks, trustNow } from "./trust.ts";

function repoWith(text: string, trusted: boolean | "this" = "this") {
	const path = makeFolder();
	writeFileSync(join(path, "sluice.yml"), text);
	const hash = createHash("sha256").update(text).digest("hex");
	return { ...REPO_DEFAULT, max: null, prefix: null, path, trusted: trusted === "this" ? hash : trusted };
}

describe("a repo's sluice.yml", () => {
	const TEXT = "base_branch: develop\nhook_timeout: 5s\nhooks: {before_run: [make, deps]}\nverify: [make, test]\nmax: 1\nprefix: ap-\n";

	test("counts when exactly this text is trusted, and overrides the home's configuration", () => {
		const { settings, file } = withRepoFile({ ...repoWith(TEXT), base_branch: "main" });
		expect(file.state).toBe("trusted");
		expect(settings).toMatchObject({ base_branch: "develop", hook_timeout_ms: 5000, verify: ["make", "test"], max: 1, prefix: "ap-" });
		expect(settings.hooks).toEqual({ ...REPO_DEFAULT.hooks, before_run: ["make", "deps"] });
	});

	test("does not count untrusted, or once it has changed", () => {
		const untrusted = repoWith(TEXT, false);
		expect(withRepoFile(untrusted)).toMatchObject({ settings: untrusted, file: { state: "untrusted" } });
		const changed = repoWith(TEXT);
		writeFileSync(join(changed.path, "sluice.yml"), TEXT.replace("make", "rm"));
		expect(withRepoFile(changed)).toMatchObject({ settings: changed, file: { state: "changed" } });
		expect(withRepoFile({ ...repoWith("", true), path: makeFolder() }).file.state).toBe("none");
	});

	test("that is a link out of the repo, no plain file, or not UTF-8 is refused, also where everything is trusted", () => {
		const outside = repoWith(TEXT, true);
		const linked = { ...outside, path: makeFolder() };
		symlinkSync(join(outside.path, "sluice.yml"), join(linked.path, "sluice.yml"));
		expect(withRepoFile(linked)).toEqual({ settings: linked, file: { state: "bad", problem: "sluice.yml leads out of the repo" } });
		expect(lostTrust("r", linked)).toBe(
			"the sluice.yml of repo r cannot be used (sluice.yml leads out of the repo), so its verify is not in force; mend that, then: sluice repo trust r",
		);
		expect(() => trustNow("r", linked, undefined)).toThrow("repo r cannot be trusted: sluice.yml leads out of the repo");
		expect(trustChecks([["r", { ...linked, trusted: false }]])).toEqual([
			{
				name: "repo r",
				ok: false,
				detail: "the sluice.yml of repo r does not count: sluice.yml leads out of the repo",
				hint: "mend that, then: sluice repo trust r",
			},
		]);
		const inner = repoWith(TEXT, true);
		renameSync(join(inner.path, "sluice.yml"), join(inner.path, "other.yml"));
		symlinkSync("other.yml", join(inner.path, "sluice.yml"));
		expect(withRepoFile(inner).file.state).toBe("trusted");
		const fifo = { ...outside, path: makeFolder() };
		execFileSync("mkfifo", [join(fifo.path, "sluice.yml")]);
		expect(withRepoFile(fifo).file).toEqual({ state: "bad", problem: "sluice.yml is not a plain file" });
		const latin = repoWith("", true);
		writeFileSync(join(latin.path, "sluice.yml"), Buffer.from([0xe4, 0x0a]));
		expect(withRepoFile(latin).file).toEqual({ state: "bad", problem: "sluice.yml is not UTF-8" });
	});

	test("problems with a semicolon in them are told apart from what to type", () => {
		const [check] = trustChecks([["a; b", repoWith(TEXT, false)]]);
		expect(check).toMatchObject({ ok: true, hint: "read the files, then: sluice repo trust a; b" });
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

	test("belong partly to the engine, partly to the daemon, and are shown as one", async () => {
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

test("100 lists of repos at once: each repo is looked at twice, a few repos at a time", async () => {
	const folder = makeFolder();
	const repos = Object.fromEntries(
		Array.from({ length: 16 }, (_, n) => [`r${n}`, { ...REPO_DEFAULT, path: join(folder, `r${n}`), base_branch: "main" }]),
	);
	const [asked, open]: [string[], Set<string>] = [[], new Set()];
	let most = 0;
	const run = async (path: string, args: readonly string[]) => {
		if (args[0] === "symbolic-ref") asked.push(path);
		open.add(path);
		most = Math.max(most, open.size);
		await localHost.turn();
		open.delete(path);
		return { code: 0, stdout: args[0] === "symbolic-ref" ? "refs/heads/main\n" : `${"a".repeat(40)}\n`, stderr: "" };
	};
	const { list } = createRepos({
		config: { settings: () => ({ repos }), engine: () => ({ repos }) } as never,
		git: { run, ask: async (path, args) => (await run(path, args)).stdout.trim() },
		scheduler: { status: async () => ({ hosts: [] }) } as never,
		clone: () => "",
		worktrees: () => [],
	});
	const lists = await Promise.all(Array.from({ length: 100 }, () => list()));
	expect(lists.every((one) => one.length === 16 && one.every(({ head }) => head === "a".repeat(40)))).toBe(true);
	expect(asked).toHaveLength(2 * 16);
	expect(most).toBeLessThanOrEqual(4);
});
