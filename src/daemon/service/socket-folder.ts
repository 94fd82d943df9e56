// Where the daemon puts its socket: in the home; or, if that path is too long for a socket, in a folder that it makes and names in the home's file `socket`.
// The folder's name is unpredictable and its mode 0700, so no other user can make it first, and a folder of another user is skipped. It stays the same over
// restarts where possible, because runs that outlive a daemon have the socket's path in SLUICE_SOCKET. XDG_RUNTIME_DIR comes last, because a log-out removes
// it while the daemon goes on.

import { mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { distrustOf, fitsSocket, plainSocket, realPath, recordedSocket, shortFolderPrefix, socketRecord } from "../../api/socket-path.ts";
import { messageOf, SluiceError } from "../../core/errors.ts";
import { writeWhole } from "./write-file.ts";

/** `home`: without symbolic links, owned by this user, mode 0700. Throws a SluiceError when no place is safe from other users. */
export function placeSocket(home: string, env: Record<string, string | undefined>) {
	const distrust = distrustOf(home);
	if (distrust) throw new SluiceError("store", distrust.what, { hint: distrust.hint });
	const plain = plainSocket(home);
	const record = socketRecord(home);
	if (fitsSocket(plain)) {
		rmSync(record, { force: true });
		return { path: plain, leave(_runs: "none" | "some"): void {} };
	}
	const path = recordedSocket(home) ?? join(makeShortFolder(home, env), "sock");
	writeWhole(record, `${path}\n`);
	return {
		path,
		/** Called after the socket is closed. The folder stays while runs go on: as long as it exists, no other user can take the path that the runs know. */
		leave(runs: "none" | "some"): void {
			if (runs === "some") return;
			rmSync(record, { force: true });
			try {
				rmdirSync(dirname(path));
			} catch {
				// The folder is gone already, or is not empty: leave it alone.
			}
		},
	};
}

function makeShortFolder(home: string, env: Record<string, string | undefined>): string {
	const prefix = shortFolderPrefix(home);
	const why: string[] = [];
	for (const base of new Set([tmpdir(), "/tmp", env.XDG_RUNTIME_DIR || "/tmp"].map(realPath))) {
		if (!fitsSocket(join(base, `${prefix}XXXXXX`, "sock"))) {
			why.push(`${base} has a long path as well`);
			continue;
		}
		let folder: string | undefined;
		try {
			folder = mkdtempSync(join(base, prefix));
			const distrust = distrustOf(folder);
			if (distrust === null) return folder;
			why.push(distrust.what);
		} catch (error) {
			why.push(messageOf(error));
		}
		if (folder !== undefined) rmdirSync(folder);
	}
	throw new SluiceError(
		"store",
		`the path of the home is too long for a socket, and there is no safe place for a short one: ${why.join("; ")}`,
		{ hint: "set SLUICE_HOME to a folder with a shorter path" },
	);
}
