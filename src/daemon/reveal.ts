// Resolves references of core/input/env-reference.ts: values are read from the daemon's environment or from a file at each start of a run, and are not kept.

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../core/errors.ts";
import { envReferenceOf, type Reveal } from "../core/input/env-reference.ts";

const MAX_FILE_BYTES = 64 * 1024;

export const createReveal =
	(env: Record<string, string | undefined>): Reveal =>
	(text) => {
		const reference = envReferenceOf(text);
		if (reference === null) return { value: text };
		if (reference.from === "env") {
			const value = env[reference.name];
			return value === undefined || value === ""
				? {
						problem: `${reference.name} is not set in the daemon's environment; set it there and start the daemon again, or write file:/path`,
					}
				: { value };
		}
		const path = reference.path.startsWith("~/") ? join(env.HOME ?? "/", reference.path.slice(2)) : reference.path;
		try {
			const stat = statSync(path);
			if (!stat.isFile() || stat.size > MAX_FILE_BYTES) return { problem: `${path} is not a file of at most ${MAX_FILE_BYTES / 1024} kB` };
			const value = readFileSync(path, "utf8").replace(/\r?\n$/, "");
			if (value === "") return { problem: `${path} is empty` };
			return value.includes("\0") ? { problem: `${path} is not text` } : { value };
		} catch (error) {
			return { problem: `${path} cannot be read: ${codeOf(error) || String(error)}` };
		}
	};
