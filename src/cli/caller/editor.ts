// The caller's editor: opens a text in a file of its own, and returns what the person saved.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CliFailure, usage } from "../failure.ts";
import type { CliEnvironment } from "../io.ts";

/** The command of the caller's editor; undefined if none is set and there is no terminal to open one in. */
export function editorOf({ env, stdin, stdout }: CliEnvironment): string | undefined {
	const set = env.VISUAL?.trim() || env.EDITOR?.trim();
	return set || (stdin.isTTY && stdout.isTTY ? "vi" : undefined);
}

/** The file is readable for its owner alone: it may hold a prompt or a variable that other users must not see. */
export async function editText(world: CliEnvironment, name: string, text: string): Promise<string> {
	const editor = editorOf(world);
	if (editor === undefined || !world.openEditor)
		throw usage("there is no terminal for an editor", "name the fields to change, for example: sluice edit 7 --lane slow --priority 5");
	const folder = mkdtempSync(join(tmpdir(), "sluice-edit-"));
	const file = join(folder, name);
	try {
		writeFileSync(file, text, { mode: 0o600 });
		const code = await world.openEditor(editor, file);
		if (code !== 0)
			throw new CliFailure(
				"failed",
				`the editor ended with exit code ${code}: nothing was changed`,
				`it was: ${editor}; EDITOR sets another one`,
			);
		return readFileSync(file, "utf8");
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/** Runs an editor in this terminal until the person leaves it. A shell reads the command, because people set `EDITOR="code --wait"`. */
export const openEditor = (command: string, file: string): Promise<number> =>
	new Promise((resolve, reject) => {
		const child = spawn("/bin/sh", ["-c", `${command} "$1"`, "sh", file], { stdio: "inherit" });
		child.on("error", reject);
		child.on("exit", (code, signal) => resolve(code ?? (signal === null ? 1 : 128)));
	});
