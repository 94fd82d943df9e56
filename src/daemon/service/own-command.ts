// The command `sluice` for runs: a folder of the home that holds nothing else and comes first in their PATH. A run thus finds the command wherever Sluice is
// installed, and always the one that belongs to its daemon.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../core/errors.ts";
import { makeFolder } from "../../host/folder.ts";
import { packageFolder } from "../version.ts";
import { writeWhole } from "./write-file.ts";

/** The program of this very installation. */
export const ownProgram = (): string => join(packageFolder(), "bin", "sluice.js");

/** Why runs have no such command; null when they have it. The daemon starts all the same, because a run may find another one by its PATH. */
export function makeOwnCommand(bin: string): string | null {
	const text = `#!/bin/sh\nexec ${quoted(process.execPath)} ${quoted(ownProgram())} "$@"\n`;
	const path = join(bin, "sluice");
	try {
		makeFolder(bin);
		// A run may be about to execute the file, so it is replaced atomically, and only if its text differs.
		if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeWhole(path, text, 0o700);
		return null;
	} catch (error) {
		return `${path} could not be written, so runs find the command only where their own PATH has it: ${messageOf(error)}`;
	}
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
