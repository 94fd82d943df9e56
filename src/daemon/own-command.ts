// The command `sluice` for runs: a folder of the home with nothing else in it, which stands first in their PATH. So a run finds the command wherever Sluice was
// installed, and always the one that belongs to its daemon.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../host/folder.ts";
import { packageFolder } from "./version.ts";
import { writeWhole } from "./write-file.ts";

/** Why runs have no command of their own; null when they have. It is no reason not to start: a run may find one by its PATH. */
export function makeOwnCommand(bin: string): string | null {
	const program = join(packageFolder(), "bin", "sluice.js");
	const text = `#!/bin/sh\nexec ${quoted(process.execPath)} ${quoted(program)} "$@"\n`;
	const path = join(bin, "sluice");
	try {
		makeFolder(bin);
		// A run may be about to execute it: it is replaced as a whole, and only if it would say something else.
		if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeWhole(path, text, 0o700);
		return null;
	} catch (error) {
		return `${path} could not be written, so runs find the command only where their own PATH has it: ${error instanceof Error ? error.message : String(error)}`;
	}
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
