// The same noun is the same file name in all four places: what is declared, what answers, how the command is described, what the command does.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { METHODS } from "../../src/api/protocol.ts";
import { COMMANDS } from "../../src/cli/catalogue.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** Names in a folder: `job.ts`, and `job/` where a noun takes several files. */
const namesIn = (folder: string): string[] =>
	[
		...new Set(
			readdirSync(join(ROOT, folder), { withFileTypes: true })
				.filter((entry) => entry.isDirectory() || (entry.name.endsWith(".ts") && !entry.name.endsWith(".test.ts")))
				.map((entry) => entry.name.replace(/\.ts$/, "")),
		),
	].sort();

const NOUNS = [...new Set(Object.keys(METHODS).map((method) => method.split(".")[0] ?? ""))].sort();

/** Files of a folder that are no noun of the protocol, with the reason. */
const BESIDES: Record<string, Record<string, string>> = {
	"src/api/protocol": {},
	"src/api/methods": {},
	"src/cli/catalogue": {
		mcp: "a server, not a method",
		store: "files of the store, read and written without a daemon",
		shell: "completion, for a shell",
	},
	"src/cli/commands": {
		init: "writes a file, without a daemon",
		mcp: "a server, not a method",
		store: "files of the store, read and written without a daemon",
		shell: "completion, for a shell",
	},
};
/** Nouns of the protocol without a command, with the reason. */
const WITHOUT_COMMAND: Record<string, string> = { session: "what a connection says of itself; `sluice open` prints the page's link" };

test.each(Object.entries(BESIDES))("%s has a file or a folder for each noun, and only those", (folder, besides) => {
	const expected = folder.startsWith("src/cli/") ? NOUNS.filter((noun) => !Object.hasOwn(WITHOUT_COMMAND, noun)) : NOUNS;
	expect(namesIn(folder)).toEqual([...expected, ...Object.keys(besides)].sort());
});

test("a command of two words is named after its noun", () => {
	const groups = COMMANDS.filter(({ name }) => name.includes(" ")).map(({ name }) => name.split(" ")[0]);
	expect(groups.filter((group) => !NOUNS.includes(group ?? ""))).toEqual([]);
});
