// Entries of a home that are of another kind than the daemon makes them: a folder or a pipe in place of a file, a file in place of a folder. Found before
// anything is opened, because opening a pipe would block for ever.
//
//   entry                            must be                     otherwise
//   files of the daemon              a file, or a link to one    refused
//   config.yml                       the same                    refused; a dangling link counts as missing
//   runs, worktrees, repos, recipes  a folder, or a link to one  refused
//   sluice.sock                      a socket                    refused
//   exits                            a pipe                      a folder is refused; anything else is replaced (host/processes/fifo.ts)

import { join } from "node:path";
import { SluiceError } from "../../core/errors.ts";
import { type Kind, kindOf } from "../../host/kind.ts";

const FILES = [
	"token",
	"viewer-token",
	"tag",
	"zone",
	"lock.db",
	"config.yml",
	"daemon.json",
	"daemon.log",
	"sluice.db",
	"sluice.db-wal",
	"sluice.db-shm",
	"sluice.db-mark",
	"socket",
	"store",
	"host.json",
	"written.json",
	"lease",
	"tls.key",
	"tls.crt",
	"audit.jsonl",
	"audit-workers.jsonl",
] as const;
const FOLDERS = ["runs", "worktrees", "repos", "recipes"] as const;

/** Files for which a dangling link does no harm: it is written through, or counts as missing. */
const MAY_DANGLE = ["config.yml", "daemon.json", "daemon.log", "host.json", "written.json", "store", "lease"];

type Misplaced = { path: string; is: Kind; should: "file" | "folder" | "socket" | "pipe" };

export function misplacedIn(home: string): Misplaced[] {
	const found: Misplaced[] = [];
	const expect = (name: string, should: Misplaced["should"], fine: (kind: Kind) => boolean) => {
		const path = join(home, name);
		const is = kindOf(path);
		if (is !== null && !fine(is)) found.push({ path, is, should });
	};
	for (const name of FILES)
		expect(name, "file", (kind) => kind === "file" || (kind === "link that leads nowhere" && MAY_DANGLE.includes(name)));
	for (const name of FOLDERS) expect(name, "folder", (kind) => kind === "folder");
	expect("sluice.sock", "socket", (kind) => kind === "socket");
	expect("exits", "pipe", (kind) => kind !== "folder");
	return found;
}

/** All of them in one message; null where nothing is misplaced. */
export function misplacedWords(found: readonly Misplaced[]): { message: string; hint: string } | null {
	if (found.length === 0) return null;
	return {
		message: found.map(({ path, is, should }) => `${path} is a ${is}, and should be a ${should}`).join("; "),
		hint: `move ${found.length === 1 ? "it" : "them"} away: the daemon makes what it needs; if it was the queue (sluice.db), put a back-up in its place`,
	};
}

/** A `config.yml` of the wrong kind is a mistake in the configuration, as one that cannot be parsed. */
export function refuseMisplaced(home: string): void {
	const found = misplacedIn(home);
	const words = misplacedWords(found);
	const code = found.every(({ path }) => path === join(home, "config.yml")) ? "invalid" : "store";
	if (words !== null) throw new SluiceError(code, words.message, { hint: words.hint });
}
