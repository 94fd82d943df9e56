// The last word of `npm run test:agents`: which program in which version met which scenario, and how that went.

import type { Reporter, TestModule } from "vitest/node";
import { TRIED } from "./programs.ts";

const WORDS: Record<string, string> = { passed: "ok", failed: "FAILED", skipped: "-", pending: "-" };

/** The column that a suite belongs to, by its name: `claude 2.1.212, behind a daemon`; without a version it is the newest. And the rest of its name. */
function columnOf(suite: string): [(typeof TRIED)[number] | undefined, string] {
	const names = (words: string) => suite === words || suite.startsWith(`${words},`);
	const exact = TRIED.find(({ title }) => names(title));
	const tried = exact ?? TRIED.find(({ agent }) => names(agent));
	const rest = suite.slice((exact?.title ?? tried?.agent ?? "").length + 2);
	return [tried, rest.replace("behind a ", "") || "alone"];
}

export default class Table implements Reporter {
	onTestRunEnd(modules: readonly TestModule[]): void {
		const rows = new Map<string, Record<string, string>>();
		for (const module of modules) {
			for (const test of module.children.allTests()) {
				const suite = test.parent.type === "suite" ? test.parent.name : "";
				const [tried, where] = columnOf(suite);
				if (tried === undefined) continue;
				const { state } = test.result();
				const seconds = Math.round((test.diagnostic()?.duration ?? 0) / 1000);
				const word = WORDS[state] ?? state;
				const row = `${where}: ${test.name.replaceAll("'", "")}`;
				rows.set(row, { ...rows.get(row), [tried.title]: word === "-" ? word : `${word} ${seconds}s` });
			}
		}
		for (const [row, cells] of rows) if (Object.values(cells).every((cell) => cell === "-")) rows.delete(row);
		if (rows.size === 0) return;
		const width = Math.max(...[...rows.keys()].map((row) => row.length));
		const line = (first: string, cells: string[]) =>
			console.log([first.padEnd(width), ...cells.map((cell) => cell.padEnd(10))].join("  ").trimEnd());
		console.log("");
		line(
			"",
			TRIED.map(({ agent }) => agent),
		);
		line(
			"",
			TRIED.map(({ version }) => version),
		);
		for (const [row, cells] of rows)
			line(
				row,
				TRIED.map(({ title }) => cells[title] ?? "-"),
			);
		console.log("\n-: not tried with it. Older versions are tried with the scenarios in which versions differ.");
	}
}
