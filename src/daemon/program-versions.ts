// The version of a program, asked once for each file, so that a start need not wait for the same answer again and again.

import { statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { type Env, find } from "../host/program-path.ts";
import type { ProgramFound } from "../supervisor/index.ts";
import { versionOf } from "./agents.ts";

/** opencode takes a second to answer on an idle machine, and many times that on a machine with twenty agents at work. */
const PATIENCE_MS = 60_000;

export type FindVersion = (program: string, surroundings: { env: Env; cwd: string }) => Promise<ProgramFound>;

export function createVersions(): FindVersion {
	const known = new Map<string, { mark: string; found: Promise<ProgramFound> }>();
	return async (program, { env, cwd }) => {
		const path = program.includes("/") ? (isAbsolute(program) ? program : join(cwd, program)) : find(program, env);
		const mark = path === null ? null : markOf(path);
		if (path === null || mark === null) return { there: false };
		const before = known.get(path);
		if (before?.mark === mark) return before.found;
		const found = versionOf(path, env, PATIENCE_MS).then((answer): ProgramFound => {
			if ("version" in answer) return { there: true, version: answer.version };
			// The machine may have been too busy: the next start asks again.
			known.delete(path);
			return { there: true, version: null };
		});
		known.set(path, { mark, found });
		return found;
	};
}

/** Changes whenever the file changes. */
function markOf(path: string): string | null {
	try {
		const { ino, size, mtimeMs } = statSync(path);
		return `${ino} ${size} ${mtimeMs}`;
	} catch {
		return null;
	}
}
