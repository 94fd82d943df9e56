// Every hint that the product prints can be typed: the lines `sluice …` are collected from the source, read by the parser, and typed against a real daemon.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COMMANDS } from "../src/cli/catalogue.ts";
import { type CommandSpec, GLOBAL_OPTIONS } from "../src/cli/command.ts";
import { parse } from "../src/cli/command-line/parse.ts";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
/** Stands for a value that is only known when the hint is printed. */
const HOLE = "\u0000";

type Hint = { file: string; text: string; command: CommandSpec | undefined; argv: string[]; whole: boolean };

const sources = (folder: string): string[] =>
	readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
		.filter((entry) => entry.isFile() && /(?<!\.test)\.tsx?$/.test(entry.name))
		.map((entry) => join(entry.parentPath, entry.name));

/** Source without comments; each `${…}` is a hole, and what stands in it, which may be a hint again, comes behind. */
function literals(text: string): string {
	let bare = text.replace(/\/\*[\s\S]*?\*\//g, " ").replace(/(^|\s)\/\/.*$/gm, " ");
	const inside: string[] = [];
	for (let before = ""; before !== bare; ) {
		before = bare;
		bare = bare.replace(/\$\{([^{}]*)\}/g, (_, expression: string) => {
			inside.push(expression);
			return HOLE;
		});
	}
	return [bare, ...inside].join("\n");
}

function hintsIn(path: string): Hint[] {
	const file = path.slice(ROOT.length + 1);
	return [...literals(readFileSync(path, "utf8")).matchAll(/(?<![\w./-])sluice ([a-z][^`"<\n]*)("?)/g)].map(([, text = "", cut]) => {
		// A hole that is glued to a word may be empty: `sluice list${filters}`.
		const bare = text
			.replaceAll("\\", "")
			.replaceAll(new RegExp(`(?<=[a-z])${HOLE}`, "g"), " ")
			.replaceAll(`${HOLE}--`, "--");
		const hint = hintOf(file, bare);
		// A quoted prompt follows: only the beginning is here.
		return cut === '"' && text.endsWith(" ") ? { ...hint, whole: false } : hint;
	});
}

/** Takes the words that belong to the command; prose behind it ends it. */
function hintOf(file: string, text: string): Hint {
	const words = text.match(/'[^']*'|\S+/g) ?? [];
	const [first = "", second = ""] = words.map((word) => word.replace(/[;:,.)]+$/, ""));
	const command = COMMANDS.find(({ name }) => name === `${first} ${second}`) ?? COMMANDS.find(({ name }) => name === first);
	if (!command) return { file, text, command, argv: [first], whole: false };
	const named = command.name.split(" ").length;
	const argv = command.name.split(" ");
	let ended = /[;:,.)]$/.test(words[named - 1] ?? "");
	let rest = false;
	let whole = true;
	for (const word of words.slice(named)) {
		if (ended) break;
		const end = /[;:,)]+$/.exec(word)?.[0] ?? "";
		const plain = end === "" ? word : word.slice(0, -end.length);
		const before = argv.at(-1) ?? "";
		const option = optionOf(command, before);
		const belongs =
			rest ||
			plain.startsWith("-") ||
			plain.includes(HOLE) ||
			/^\[?[A-Z]+[….]*\]?$/.test(plain) ||
			/^[\d'[]/.test(plain) ||
			(option !== undefined && option.type !== "flag") ||
			/^[\w.-]+\.ya?ml$/.test(plain) ||
			(command.name.startsWith("config ") && /[._]|^preset$/.test(plain));
		if (!belongs) {
			whole = false;
			break;
		}
		if (plain === "--") rest = true;
		if (!/^\[[A-Z]+\]$/.test(plain) && plain !== "") argv.push(plain);
		ended = end !== "";
	}
	// An option without its value, or a command without what it needs, is only spoken of: "sluice up --name gives it another".
	const last = optionOf(command, argv.at(-1) ?? "");
	const bare =
		argv.length === named && [...(command.args ?? []).filter(({ take }) => take !== "any"), ...(command.rest ? [1] : [])].length > 0;
	return { file, text, command, argv, whole: whole && !bare && (last === undefined || last.type === "flag") };
}

const optionOf = (command: CommandSpec, word: string) =>
	[...GLOBAL_OPTIONS, ...(command.options ?? [])].find(
		(option) => word === `--${option.name}` || ("short" in option && word === `-${option.short}`),
	);

/** Holes that stand for more than one word. */
const WORDS: Readonly<Record<string, string>> = {
	[`resume --${HOLE} ${HOLE}`]: "resume --lane code",
	[`resume --${HOLE}`]: "resume --repo shop",
	[`config set repos.${HOLE}.url URL`]: "config set repos.web.url https://example.org/other.git",
	[`config set repos.${HOLE}.prefix`]: "config set repos.web.prefix be-",
	[`config set agents.${HOLE}.env.${HOLE} env:${HOLE}`]: "config set agents.claude.env.ANTHROPIC_API_KEY env:ANTHROPIC_API_KEY",
	[`kernel grant ${HOLE} LIMIT`]: "kernel grant 1 tokens 100",
	[`budget grant ${HOLE} LIMIT`]: "budget grant owner:ann runs 100",
	[`people role ${HOLE} ${HOLE}`]: "people role ann viewer",
	[`serve --listen ${HOLE}:${HOLE}`]: "serve --listen 10.0.0.7:7444",
	[`serve --listen 0.0.0.0:${HOLE} --name ${HOLE}`]: "serve --listen 0.0.0.0:7443 --name box",
};

/** What a person would type where the hint has a hole or a word in capitals. */
function typed({ command, argv }: Hint): string[] {
	const several = WORDS[argv.join(" ")];
	if (several !== undefined) return several.split(" ");
	const args = (command?.args ?? []).map(({ name }) => name);
	let at = 0;
	return argv.map((word, index) => {
		const option = command && optionOf(command, argv[index - 1] ?? "");
		const isValue = option !== undefined && option.type !== "flag";
		const name = isValue ? (option.value ?? "VALUE") : (args[Math.min(at, args.length - 1)] ?? "");
		if (!isValue && index >= (command?.name.split(" ").length ?? 1) && !word.startsWith("-")) at++;
		const fill = sampleOf(command?.name ?? "", name, isValue ? option.name : undefined);
		return word
			.replace(/^[A-Z]+$/, fill)
			.replaceAll(HOLE, fill)
			.replace(/^'(.*)'$/, "$1");
	});
}

function sampleOf(command: string, name: string, option: string | undefined): string {
	if (option === "max" || option === "priority" || name === "N") return "3";
	if (["ID", "JOB", "PID", "SCHED_ID", "ENTRY"].includes(name)) return "1";
	if (name === "TIME") return "18:30";
	if (name === "SIGNAL") return "HUP";
	if (name === "ARTIFACT") return "custom:doc:plan";
	if (command.startsWith("account")) return "claude";
	if (command.startsWith("lane") || option === "lane") return "code";
	if (command.startsWith("config") && name === "KEY") return "max_concurrent";
	if (command.startsWith("config")) return "3";
	return "shop";
}

/** The catalogue's examples have a test of their own. */
const HINTS = ["src", "web"]
	.flatMap((folder) => sources(folder).flatMap(hintsIn))
	.filter(({ file }) => !file.startsWith("src/cli/catalogue/"));
/** These start or move daemons, stay until something happens, or speak of another machine. */
const NOT_TYPED = /^(up|down|help|mcp|migrate-store|top|backup|completion|wait|logs .*-f|status --watch)\b/;

describe("hints", () => {
	test("are found, in every part of the product", () => {
		expect(HINTS.length).toBeGreaterThan(100);
		for (const part of ["src/cli", "src/core", "src/daemon", "src/scheduler", "web"])
			expect(HINTS.some(({ file }) => file.startsWith(part))).toBe(true);
	});

	test("name commands and options that exist", () => {
		const wrong = HINTS.filter(
			({ command, argv }) =>
				argv[0] !== "help" &&
				(!command ||
					argv.some((word, at) => word.startsWith("--") && word.length > 2 && !argv.slice(0, at).includes("--") && !known(command, word))),
		);
		expect(wrong.map(({ file, text }) => `${file}: sluice ${text}`)).toEqual([]);
	});

	test("are read by the parser as they stand", () => {
		const wrong = HINTS.filter(({ whole }) => whole).flatMap((hint) => {
			try {
				parse(typed(hint), COMMANDS);
				return [];
			} catch (error) {
				return [`${hint.file}: sluice ${typed(hint).join(" ")}: ${(error as Error).message}`];
			}
		});
		expect(wrong).toEqual([]);
	});
});

const known = (command: CommandSpec, word: string) => optionOf(command, word.split("=")[0] as string) !== undefined || word.includes(HOLE);

describe("typed against a daemon", () => {
	let folder = "";
	const sluice = (...args: string[]) => {
		const { status, stderr } = spawnSync(process.execPath, [join(ROOT, "bin/sluice.js"), ...args], {
			cwd: folder,
			encoding: "utf8",
			timeout: 120_000,
			env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder, SLUICE_HOME: join(folder, "home"), SLUICE_PORT: "null" },
		});
		return { status, stderr };
	};
	beforeAll(() => {
		folder = mkdtempSync(join(tmpdir(), "sluice-hints-"));
		expect(existsSync(join(ROOT, "dist/cli.cjs"))).toBe(true);
		spawnSync("git", ["init", "-q", "-b", "main", "shop"], { cwd: folder });
		spawnSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"], {
			cwd: join(folder, "shop"),
		});
		expect(sluice("repo", "add", "shop").status).toBe(0);
		expect(sluice("config", "set", "repos.web.url", "https://example.org/web.git").status).toBe(0);
		expect(sluice("lane", "set", "code", "--max", "3").status).toBe(0);
		expect(sluice("config", "set", "accounts.claude", "{}").status).toBe(0);
		expect(sluice("add", "--name", "shop", "--batch", "shop", "--needs-approval", "--", "true").status).toBe(0);
	}, 600_000);
	afterAll(() => {
		sluice("down", "--stop-runs");
		rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
	}, 600_000);

	test("none of them is bad usage", { timeout: 600_000 }, () => {
		const lines = new Map(
			HINTS.filter(({ whole, argv }) => whole && !NOT_TYPED.test(argv.join(" "))).map((hint) => [typed(hint).join("\u0001"), hint.file]),
		);
		const wrong = [...lines].flatMap(([line, file]) => {
			const { status, stderr } = sluice(...line.split("\u0001"));
			expect([line, status]).not.toEqual([line, null]);
			return status === 2 ? [`${file}: sluice ${line.replaceAll("\u0001", " ")}: ${stderr}`] : [];
		});
		expect(wrong).toEqual([]);
	});
});
