// The home: one folder with everything that a daemon owns. It is made, checked and repaired here, and only this file says where each thing is.

import {
	chmodSync,
	existsSync,
	linkSync,
	readFileSync,
	realpathSync,
	renameSync,
	rmSync,
	statfsSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { codeOf, messageOf, SluiceError } from "../../core/errors.ts";
import { makeFolder } from "../../host/folder.ts";
import { secret, tag } from "../../host/secret.ts";
import { refuseMisplaced } from "./home-kinds.ts";
import { makeOwnCommand } from "./own-command.ts";

export type Home = ReturnType<typeof prepareHome>;

export const homePath = (env: Record<string, string | undefined> = process.env): string =>
	resolve(env.SLUICE_HOME || join(env.HOME || homedir(), ".sluice"));

/** File systems whose locks cannot be trusted over the network, by their number in statfs(2). */
const NETWORK: Record<number, string> = {
	26985: "nfs",
	20859: "smb",
	4283649346: "cifs",
	4266872130: "smb2",
	1397113167: "afs",
	1799439955: "afs",
	1937076805: "coda",
	22092: "ncp",
	198183888: "lustre",
	1196443219: "gpfs",
	12805120: "ceph",
};

export function networkKind(path: string, typeOf: (path: string) => number = linuxType): string | null {
	return NETWORK[typeOf(path) >>> 0] ?? null;
}

/** The file system's type; 0 outside Linux, where the numbers mean other things. */
const linuxType = (path: string): number => (process.platform === "linux" ? statfsSync(path).type : 0);

/** Makes what is missing. Throws a SluiceError (`store`) when the home cannot be used. */
export function prepareHome(path: string, options: { typeOf?: (path: string) => number } = {}) {
	const repaired: string[] = [];
	let real = path;
	try {
		makeFolder(path);
		real = realpathSync(path);
		const kind = networkKind(real, options.typeOf);
		if (kind !== null)
			throw new SluiceError("store", `the home ${path} is on a network file system (${kind}), where locks cannot be trusted`, {
				hint: "set SLUICE_HOME to a folder on a local disk",
			});
		tighten(real, 0o700, repaired);
		refuseMisplaced(real);
		for (const folder of ["runs", "worktrees", "repos", "recipes"]) makeFolder(join(real, folder));
		const withoutCommand = makeOwnCommand(join(real, "bin"));
		if (withoutCommand !== null) repaired.push(withoutCommand);
		// A home without a tag is new. A home that had a tag before the file `zone` existed keeps its schedules in UTC.
		const isNew = !existsSync(join(real, "tag"));
		const keep = (name: string, fresh: () => string) => kept(join(real, name), fresh, repaired);
		return {
			path: real,
			config: join(real, "config.yml"),
			database: join(real, "sluice.db"),
			/** The daemon's lock: see lock.ts. Only SQLite may open it. */
			lock: join(real, "lock.db"),
			/** {pid, version, port, started_at} of the current or last daemon. */
			record: join(real, "daemon.json"),
			log: join(real, "daemon.log"),
			runs: join(real, "runs"),
			worktrees: join(real, "worktrees"),
			/** Clones of repos that are registered by URL. */
			clones: join(real, "repos"),
			recipes: join(real, "recipes"),
			/** The zone of schedules: this machine's, or UTC in a home that was made before that was the default. */
			zone: keep("zone", () => (isNew ? "local" : "UTC")) === "local" ? ("local" as const) : ("UTC" as const),
			/** Distinguishes this home's runs and branches from those of other homes; never changes. */
			tag: keep("tag", tag),
			/** HTTP tokens: `admin` may call everything, `viewer` may only read. */
			tokens: { admin: keep("token", () => secret(32)), viewer: keep("viewer-token", () => secret(32)) },
			/** What was repaired, or could not be. */
			repaired,
		};
	} catch (error) {
		throw refusal(error, path);
	}
}

/** Removes access for other users: a user who can read the tokens could start programs in the owner's name. */
function tighten(path: string, mode: number, repaired: string[]): void {
	const stat = statSync(path);
	if (process.getuid && stat.uid !== process.getuid())
		throw new SluiceError("store", `${path} belongs to another user (${stat.uid})`, { hint: "set SLUICE_HOME to a folder of your own" });
	if ((stat.mode & 0o077) === 0) return;
	chmodSync(path, mode);
	if ((statSync(path).mode & 0o077) !== 0)
		throw new SluiceError("store", `${path} is open to other users, and its file system keeps it so`, {
			hint: "set SLUICE_HOME to a folder on a file system with Unix permissions",
		});
	repaired.push(`${path} was open to others (${(stat.mode & 0o777).toString(8)}), now ${mode.toString(8)}`);
}

/** The content of a small file that is made once. Two processes that make it at the same time get the same content. */
function kept(path: string, fresh: () => string, repaired: string[]): string {
	const stat = statSync(path, { throwIfNoEntry: false });
	if (!stat || stat.size === 0) {
		// Complete before it has its name: another process never reads a part of it, or takes it for the rest of a crash.
		const mine = `${path}.${process.pid}`;
		writeFileSync(mine, `${fresh()}\n`, { mode: 0o600 });
		try {
			if (stat) renameSync(mine, path);
			else linkSync(mine, path);
		} catch (error) {
			if (codeOf(error) !== "EEXIST") throw error;
		} finally {
			rmSync(mine, { force: true });
		}
	}
	tighten(path, 0o600, repaired);
	return readFileSync(path, "utf8").trim();
}

const WHY: Record<string, [string, string]> = {
	EROFS: ["is on a read-only file system", "set SLUICE_HOME to a folder that can be written"],
	EACCES: ["may not be written by this user", "set SLUICE_HOME to a folder of your own"],
	EPERM: ["may not be written by this user", "set SLUICE_HOME to a folder of your own"],
	ENOSPC: ["is on a full disk", "make room, then try again"],
	EDQUOT: ["is over its disk quota", "make room, then try again"],
	ENOTDIR: ["is not a folder", "set SLUICE_HOME to a folder"],
	EEXIST: ["is not a folder", "set SLUICE_HOME to a folder"],
	ELOOP: ["is a link that leads nowhere", "set SLUICE_HOME to a folder"],
};

function refusal(error: unknown, path: string): SluiceError {
	if (error instanceof SluiceError) return error;
	const message = messageOf(error);
	const [what, hint] = WHY[codeOf(error)] ?? [`cannot be used: ${message}`, "set SLUICE_HOME to another folder"];
	return new SluiceError("store", `the home ${path} ${what}`, { hint, cause: error });
}
