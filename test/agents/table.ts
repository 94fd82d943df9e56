// The last word of `npm run test:agents`: which program met which scenario, and how that went.

import type { Reporter, TestModule } from "vitest/node";
import { AGENT_NAMES } from "./programs.ts";

const WORDS: Record<string, string> = { passed: "ok", failed: "FAILED", skipped: "-", pending: "-" };

export default class Table implements Reporter {
	onTestRunEnd(modules: readonly TestModule[]): void {
		const rows = new Map<string, Record<string, string>>();
		for (const module of modules) {
			for (const test of module.children.allTests()) {
				const suite = test.parent.type === "suite" ? test.parent.name : "";
				const agent = AGENT_NAMES.find((name) => suite === name || suite.startsWith(`${name},`));
				if (agent === undefined) continue;
				const { state } = test.result();
				const seconds = Math.round((test.diagnostic()?.duration ?? 0) / 1000);
				const word = WORDS[state] ?? state;
				const row = `${suite === agent ? "alone" : "daemon"}: ${test.name.replaceAll("'", "")}`;
				rows.set(row, { ...rows.get(row), [agent]: word === "-" ? word : `${word} ${seconds}s` });
			}
		}
		if (rows.size === 0) return;
		const width = Math.max(...[...rows.keys()].map((row) => row.length));
		const line = (first: string, cells: string[]) =>
			console.log([first.padEnd(width), ...cells.map((cell) => cell.padEnd(11))].join("  ").trimEnd());
		console.log("");
		line("", [...AGENT_NAMES]);
		for (const [row, cells] of rows)
			line(
				row,
				AGENT_NAMES.map((name) => cells[name] ?? "-"),
			);
	}
}
