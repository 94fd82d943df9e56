// Every shell example of the documentation, run as it stands against the built product. The tutorial is a stranger's first ten minutes, word for word.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { TestHome } from "./make/daemons/daemon.ts";
import { makeFolder } from "./make/folder.ts";
import { fits, openShell, readPage } from "./make/pages/page.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const COMING_FROM = readdirSync(join(ROOT, "docs/coming-from")).filter((name) => name.endsWith(".md") && name !== "README.md");
const FIRST = ["README.md", "docs/tutorial.md"];
/** The command line's own page is left out: its examples are the catalogue's, each read by the parser in src/cli/command-line/parse.test.ts. */
const REFERENCE = readdirSync(join(ROOT, "docs/reference")).filter((name) => name.endsWith(".md") && name !== "cli.md");
const OTHERS = [
	...readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md") && name !== "tutorial.md"),
	...COMING_FROM.map((name) => `coming-from/${name}`),
	...REFERENCE.map((name) => `reference/${name}`),
]
	.map((name) => `docs/${name}`)
	.filter((page) => readPage(readFileSync(join(ROOT, page), "utf8")).examples.length > 0);
const PAGES = [...FIRST, ...OTHERS];

/** Programs that play an agent, a repository, and as many jobs as an example's numbers need. */
const plays = (name: string, recorded: string) =>
	`printf '%s\\n' '#!/bin/sh' 'cat "${join(ROOT, "test/fixtures/agents", recorded, "stdout")}"' > ~/.local/bin/${name}; chmod +x ~/.local/bin/${name}`;
const REPO = `git config --global user.name Ann; git config --global user.email ann@example.org
git init -q -b main ~/src/app; git -C ~/src/app commit -q --allow-empty -m first`;
const SIX_JOBS = "for n in 1 2 3 4 5 6; do sluice add --quiet --wait -- true; done";

/** What the reader of a page has already. */
const HAS: Record<string, string> = {
	"docs/agents.md": `${plays("codex", "codex-ok")}; ${plays("mine", "claude-ok")}; ${REPO}
cd ~/src/app; sluice repo add; sluice config set agents.mine '{command: [mine, "{prompt}"], output: claude}'; ${SIX_JOBS}`,
	"docs/limits-and-money.md": `${plays("claude", "claude-ok")}; sluice config set accounts.work '{}'`,
	"docs/repos.md": `${plays("claude", "claude-ok")}; echo 'echo ok > health.txt' >> ~/.local/bin/claude; ${REPO}; ${SIX_JOBS}`,
	"docs/operating.md": "sluice add -- true",
};

async function follow(page: string): Promise<{ run: number; faults: string[] }> {
	const user = makeFolder();
	const home = new TestHome(join(user, ".sluice"));
	const { examples, faults } = readPage(readFileSync(join(ROOT, page), "utf8"));
	const shell = openShell(user, {
		cwd: ROOT,
		env: {
			PATH: `${user}/.local/bin:${process.env.PATH ?? ""}`,
			HOME: user,
			USER: "ann",
			LANG: "C.UTF-8",
			SLUICE_PORT: "0",
			GIT_CONFIG_GLOBAL: join(user, ".gitconfig"),
			GIT_CONFIG_SYSTEM: "/dev/null",
		},
	});
	onTestFinished(() => void shell.child.kill("SIGKILL"));
	// The others are read by somebody who has followed one of these two.
	if (!FIRST.includes(page)) {
		mkdirSync(join(user, ".local/bin"), { recursive: true });
		symlinkSync(join(ROOT, "bin/sluice.js"), join(user, ".local/bin/sluice"));
	}
	let run = 0;
	const before = { line: 0, kind: "sh" as const, command: HAS[page] ?? "", expected: undefined };
	for (const example of HAS[page] === undefined ? examples : [before, ...examples]) {
		const { ok, out } = await shell.run(example);
		const where = `${page}:${example.line}: ${example.command}`;
		if (!ok) return { run, faults: [...faults, `${where}\nfailed:\n${out}`] };
		if (example.expected !== undefined && !fits(example.expected, out, user))
			return { run, faults: [...faults, `${where}\nshould print:\n${example.expected}but printed:\n${out}`] };
		run++;
	}
	shell.child.stdin?.end();
	await home.run(["down", "--stop-runs"], { program: join(ROOT, "bin/sluice.js") });
	return { run, faults };
}

test.each(PAGES)("%s: every example works as it says", { timeout: 300_000 }, async (page) => {
	const { run, faults } = await follow(page);
	expect(faults).toEqual([]);
	expect(run).toBeGreaterThan(FIRST.includes(page) ? 10 : 0);
});

test.each(["README.md", "docs/concepts.md"])(
	"%s: the library's examples run, and print what they say",
	{ timeout: 60_000 },
	async (page) => {
		const blocks = [...readFileSync(join(ROOT, page), "utf8").matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code]) => code as string);
		expect(blocks.length).toBeGreaterThan(0);
		// Below the package, which finds itself by name there.
		const folder = mkdtempSync(join(ROOT, "dist", "example-"));
		onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
		const code = blocks.join("\n");
		writeFileSync(join(folder, "example.mjs"), code);
		const { stdout, stderr, status } = spawnSync(process.execPath, ["example.mjs"], { cwd: folder, encoding: "utf8" });
		expect([status, stderr]).toEqual([0, ""]);
		const promised = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(
			([, words = ""]) => words.split("…")[0]?.split("]: ")[0] as string,
		);
		expect(promised.length).toBeGreaterThan(0);
		const flat = stdout.replace(/\s+/g, " ");
		expect(promised.filter((words) => !flat.includes(words.replace(/\s+/g, " ").trim()))).toEqual([]);
	},
);

describe("the check itself", () => {
	test("sees examples, those that cannot run, and blocks it does not understand", () => {
		const text =
			"```sh\ntrue\n```\n```console\n$ echo a\na\n$ echo b\nb\n```\n```sh no-run: needs an account\nx\n```\n```sh no-run\nx\n```\n```bash\nx\n```\n";
		expect(readPage(text)).toEqual({
			examples: [
				{ line: 2, kind: "sh", command: "true", expected: undefined },
				{ line: 5, kind: "console", command: "echo a", expected: "a\n" },
				{ line: 7, kind: "console", command: "echo b", expected: "b\n" },
			],
			faults: ['line 13: "no-run" is not understood: write `no-run: REASON`', "line 16: write sh or console"],
			skipped: 1,
		});
	});

	test("compares what is printed, but not durations, pids, homes and spaces", () => {
		const same: [string, string][] = [
			["a  b\n", "a b\n"],
			["for 640ms", "for 1.2s"],
			["pid 7, in /home/ann/x", "pid 99, in /tmp/u/x"],
			["one\n…\nfour\n", "one\ntwo\nthree\nfour\n"],
			["…\nfour\n", "four\n"],
			["job … ended", "job 7 (x) ended"],
		];
		const other: [string, string][] = [
			["a\n", "b\n"],
			["a\n", "a\nb\n"],
			["job … ended", "job 7 began"],
			["one\n…\nfour\n", "one\ntwo\n"],
		];
		expect(same.filter(([expected, real]) => !fits(expected, real, "/tmp/u"))).toEqual([]);
		expect(other.filter(([expected, real]) => fits(expected, real, "/tmp/u"))).toEqual([]);
	});

	test("a command that fails ends the page", async () => {
		const user = makeFolder();
		const shell = openShell(user, { cwd: user, env: { PATH: process.env.PATH ?? "" } });
		onTestFinished(() => void shell.child.kill("SIGKILL"));
		const sh = (command: string) => shell.run({ line: 1, kind: "sh", command, expected: undefined });
		expect(await sh("x=1; echo $x")).toEqual({ ok: true, out: "1\n" });
		expect(await sh("echo $x$x")).toEqual({ ok: true, out: "11\n" });
		expect(await sh("echo before; ls no-such-file; echo after")).toMatchObject({
			ok: false,
			out: expect.stringMatching(/^before\n.*no-such-file/),
		});
	});
});
