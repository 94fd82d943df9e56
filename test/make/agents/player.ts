// A program that plays the part of an agent: each time it is started it writes the next thing it was told to, and notes down what it was called with.

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../folder.ts";
import { capture } from "./capture.ts";

/** Lines of shell that run before what it writes, or after it. */
export type Part = { stdout?: string; stderr?: string; code?: number; before?: string; after?: string };

export class Player {
	readonly bin = makeFolder();
	private readonly notes = makeFolder();
	private parts = 0;

	constructor(readonly name: string) {
		const script = `#!/bin/sh
cd "$PWD"
n=1
while ! mkdir '${this.notes}'/$n 2>/dev/null; do n=$((n + 1)); done
for word in "$@"; do printf '%s\\0' "$word"; done > '${this.notes}'/$n/argv
cat > '${this.notes}'/$n/stdin
env > '${this.notes}'/$n/env
[ -f '${this.notes}'/part-$n.sh ] || { echo 'nothing is left to play' >&2; exit 99; }
. '${this.notes}'/part-$n.sh
`;
		writeFileSync(join(this.bin, name), script);
		chmodSync(join(this.bin, name), 0o755);
	}

	get path(): string {
		return `${this.bin}:${process.env.PATH}`;
	}

	/** What it does when it is started the next time after those that are planned already. */
	next({ stdout = "", stderr = "", code = 0, before = "", after = "" }: Part): this {
		const at = join(this.notes, `part-${++this.parts}`);
		writeFileSync(`${at}.out`, stdout);
		writeFileSync(`${at}.err`, stderr);
		writeFileSync(`${at}.sh`, `${before}\ncat '${at}.err' >&2\ncat '${at}.out'\n${after}\nexit ${code}\n`);
		return this;
	}

	/** As it was recorded, perhaps changed. */
	plays(name: string, change: (text: string) => string = (text) => text, more: Part = {}): this {
		const { stdout, stderr, code } = capture(name);
		return this.next({ stdout: change(stdout.toString()), stderr, code, ...more });
	}

	/** How often it was started. */
	get starts(): number {
		let count = 0;
		while (existsSync(join(this.notes, String(count + 1), "env"))) count++;
		return count;
	}

	argv(start: number): string[] {
		return readFileSync(join(this.notes, String(start), "argv"), "utf8")
			.split("\0")
			.slice(0, -1);
	}

	/** What it read on standard input. */
	prompt(start: number): string {
		return readFileSync(join(this.notes, String(start), "stdin"), "utf8");
	}

	env(start: number): Record<string, string> {
		const lines = readFileSync(join(this.notes, String(start), "env"), "utf8")
			.trimEnd()
			.split("\n");
		return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
	}

	/** A folder of its own for whatever a part writes. */
	folder(): string {
		const path = join(this.notes, "folder");
		mkdirSync(path, { recursive: true });
		return path;
	}
}
