// The shell examples of a page of documentation, read and run as a reader would: one shell for the page, block after block, in a home of its own.
//
//   ```sh                    is run; each command must succeed
//   ```sh no-run: REASON     is not run; the reason has to be said
//   ```console               `$ ` lines are run, the lines below are what must be printed (stdout and stderr together)
//
// In what is expected, `…` stands for anything within a line, and a line of `…` for any lines. Durations, pids, the spaces between columns
// and the states that `wait` sees in passing may differ.

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

type Example = { line: number; kind: "sh" | "console"; command: string; expected: string | undefined };
export type Page = { examples: Example[]; faults: string[]; skipped: number };

const FENCE = /^```(\S*) ?(.*)$/;

export function readPage(text: string): Page {
	const page: Page = { examples: [], faults: [], skipped: 0 };
	const lines = text.split("\n");
	for (let at = 0; at < lines.length; at++) {
		const [, kind, about = ""] = FENCE.exec(lines[at] as string) ?? [];
		if (kind === undefined) continue;
		const first = at + 1;
		while (++at < lines.length && lines[at] !== "```");
		const body = lines.slice(first, at);
		if (kind === "sh" && about === "") page.examples.push({ line: first + 1, kind: "sh", command: body.join("\n"), expected: undefined });
		else if (kind === "sh" && /^no-run: \S.{5,}/.test(about)) page.skipped++;
		else if (kind === "sh") page.faults.push(`line ${first}: "${about}" is not understood: write \`no-run: REASON\``);
		else if (kind === "console" && about === "") page.examples.push(...readConsole(body, first + 1));
		else if (kind === "bash" || kind === "shell" || kind === "console") page.faults.push(`line ${first}: write sh or console`);
	}
	return page;
}

function readConsole(body: string[], line: number): Example[] {
	const examples: Example[] = [];
	body.forEach((text, index) => {
		const last = examples.at(-1);
		if (text.startsWith("$ ")) examples.push({ line: line + index, kind: "console", command: text.slice(2), expected: "" });
		else if (last) last.expected += `${text}\n`;
	});
	return examples;
}

/** What may differ from run to run is made the same. */
const plain = (text: string, user: string) =>
	text
		.replaceAll(user, "/home/ann")
		.replace(/\b\d+(?:\.\d+)?(?:ms|s|m|h)(?: ?\d+(?:ms|s|m))?\b/g, "0s")
		.replace(/\bpid \d+/g, "pid 0")
		.replace(/[ \t]+/g, " ")
		.trim();

/** States that `wait` tells of only if it happens to see them. */
const PASSING = /^job \d+(?: \(.*\))? (?:queued|running)$/;

export function fits(expected: string, real: string, user: string): boolean {
	const lines = (text: string) =>
		plain(text, user)
			.split("\n")
			.map((line) => line.trim())
			.filter((line) => !PASSING.test(line));
	const pattern = lines(expected).map((line) => (line === "…" ? "(?:.*\n)*?" : `${line.split("…").map(literal).join(".*")}\n`));
	return new RegExp(`^${pattern.join("")}$`).test(`${lines(real).join("\n")}\n`);
}
const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

export type Shell = { run(example: Example): Promise<{ ok: boolean; out: string }>; child: ChildProcess };

/** One shell for all of a page's examples. A command that fails ends it. */
export function openShell(user: string, options: { cwd: string; env: Record<string, string> }): Shell {
	const child = spawn("bash", ["--noprofile", "--norc", "-e"], { ...options, stdio: ["pipe", "pipe", "ignore"] });
	let said = "";
	let wake = () => {};
	let over = false;
	child.stdout.on("data", (chunk) => {
		said += chunk;
		wake();
	});
	child.stdin.on("error", () => {});
	child.once("close", () => {
		over = true;
		wake();
	});
	let count = 0;
	return {
		child,
		async run({ command }) {
			const [script, log, mark] = [join(user, `.example-${++count}.sh`), join(user, `.example-${count}.log`), `done ${count}\n`];
			writeFileSync(script, `${command}\n`);
			writeFileSync(log, "");
			child.stdin.write(`. ${script} > ${log} 2>&1 < /dev/null\necho done ${count}\n`);
			while (!said.includes(mark) && !over)
				await new Promise<void>((resolve) => {
					wake = resolve;
				});
			return { ok: said.includes(mark), out: readFileSync(log, "utf8") };
		},
	};
}
