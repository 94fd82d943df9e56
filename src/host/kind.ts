// The kind of file at a path, found without opening it: opening a pipe for reading would wait for a writer for ever.

import { lstatSync, type Stats, statSync } from "node:fs";

export type Kind = "file" | "folder" | "pipe" | "socket" | "device" | "link that leads nowhere";

/** Follows symbolic links. Null when nothing is there. */
export function kindOf(path: string): Kind | null {
	// The path itself first: another process may make it between the two calls, and would else be taken for a link.
	const itself = look(() => lstatSync(path, { throwIfNoEntry: false }));
	if (itself === undefined) return null;
	const found = itself.isSymbolicLink() ? look(() => statSync(path, { throwIfNoEntry: false })) : itself;
	if (found === undefined) return "link that leads nowhere";
	if (found.isFile()) return "file";
	if (found.isDirectory()) return "folder";
	if (found.isFIFO()) return "pipe";
	return found.isSocket() ? "socket" : "device";
}

/** A cycle of links, or a path below a plain file, counts as missing. */
function look(stat: () => Stats | undefined): Stats | undefined {
	try {
		return stat();
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "ELOOP" || code === "ENOTDIR") return undefined;
		throw error;
	}
}
