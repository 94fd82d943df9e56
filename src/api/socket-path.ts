// Where a home's socket is, and whether it can be trusted: one rule for daemon and clients. Kernels allow little more than a hundred bytes for a socket's path.
//
// The socket lies in the home. Where that path is too long, the daemon makes a folder with an unpredictable name for it (daemon/service/socket-folder.ts) and writes the
// path into the home's file `socket`. Clients read it there: the home is the proof, and other users cannot guess a name and take it first.

import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { orElse } from "../core/errors.ts";
import { type Distrust, distrustAbove, distrustFolder, distrustSocket, foreign, type PathPart, type PathUser } from "../core/trust/path.ts";

const MAX_SOCKET_PATH_BYTES = 104;

export const fitsSocket = (path: string): boolean => Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES;
export const plainSocket = (home: string): string => join(home, "sluice.sock");
export const socketRecord = (home: string): string => join(home, "socket");
/** How the name of the short folder begins: it says whose it is also to a program that may not read the home. */
export const shortFolderPrefix = (home: string): string => `sluice-${hash(home)}-`;

/** Where clients of this home find its daemon, if it runs. */
export function socketOf(home: string): string {
	const real = realPath(home);
	return recordedSocket(real) ?? plainSocket(real);
}

/** The short one, where the home names it and its folder is the owner's alone. `home`: without links. */
export function recordedSocket(home: string): string | undefined {
	const record = socketRecord(home);
	if (!existsSync(record) || distrustOf(home) !== null) return undefined;
	const path = readRecord(record)?.trim();
	if (path === undefined) return undefined;
	return isSocketOf(path, home) && existsSync(dirname(path)) && distrustOf(dirname(path)) === null ? path : undefined;
}

/** The file `socket` holds one path. */
const LONGEST_RECORD = 4096;

/** Undefined where it is no plain file, which the daemon refuses by name (daemon/service/home-kinds.ts), or too long. Does not wait for the writer of a pipe. */
function readRecord(path: string): string | undefined {
	let file: number;
	try {
		file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
	} catch (error) {
		// ENXIO: a socket; ENOENT: the daemon has just removed it.
		if (["ENXIO", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
		throw error;
	}
	try {
		const stat = fstatSync(file);
		if (!stat.isFile() || stat.size > LONGEST_RECORD) return undefined;
		const bytes = Buffer.alloc(LONGEST_RECORD);
		return bytes.toString("utf8", 0, readSync(file, bytes, 0, LONGEST_RECORD, 0));
	} finally {
		closeSync(file);
	}
}

/** Whether this is the socket of that home, by its name alone. `home`: without links. */
export const isSocketOf = (socket: string, home: string): boolean =>
	socket === plainSocket(home) || basename(dirname(socket)).startsWith(shortFolderPrefix(home));

/** Links resolved; as given where nothing is there, or it may not be seen. */
export const realPath = (path: string): string => orElse(() => realpathSync.native(path), path);

/** A home of another user is not even written to: what lies there may be a link to a file of ours. */
export function foreignHome(home: string): Distrust | null {
	const stats = statSync(home, { throwIfNoEntry: false });
	const uid = process.geteuid?.();
	return stats && uid !== undefined && stats.uid !== uid ? foreign(home, stats.uid, { uid }) : null;
}

/** What is wrong with a folder that is to hold the socket, or with a folder above it; null when nothing is. Throws where it cannot be looked at. */
export function distrustOf(folder: string): Distrust | null {
	const [own, ...above] = partsOf(folder);
	const user = currentUser();
	if (!own || !user) return null;
	// The folder itself first: who reads that it belongs to another user needs to hear no more.
	return distrustFolder(own, user) ?? above.map((part) => distrustAbove(part, user)).find((found) => found !== null) ?? null;
}

/** The socket as a client may use it, without links; or why not. Undefined when there is none. Throws where it cannot be looked at. */
export function lookAtSocket(path: string): { path: string } | Distrust | undefined {
	let real: string;
	let stats: Stats | undefined;
	try {
		real = join(realpathSync.native(dirname(path)), basename(path));
		stats = lstatSync(real, { throwIfNoEntry: false });
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
		throw error;
	}
	if (!stats) return undefined;
	const user = currentUser();
	return distrustOf(dirname(real)) ?? (user && distrustSocket(partOf(real, stats), user)) ?? { path: real };
}

/** The folder and all above it, up to the root. `folder`: without links. */
function partsOf(folder: string): PathPart[] {
	const parts = [partOf(folder, lstatSync(folder))];
	for (let at = folder; dirname(at) !== at; ) {
		at = dirname(at);
		parts.push(partOf(at, lstatSync(at)));
	}
	return parts;
}

const partOf = (path: string, stats: Stats): PathPart => ({
	path,
	kind: stats.isDirectory() ? "folder" : stats.isSocket() ? "socket" : stats.isSymbolicLink() ? "link" : "other",
	uid: stats.uid,
	gid: stats.gid,
	mode: stats.mode & 0o7777,
});

/** Undefined where the system has no users of this kind. */
function currentUser(): PathUser | undefined {
	const [uid, gid] = [process.geteuid?.(), process.getegid?.()];
	return uid === undefined || gid === undefined ? undefined : { uid, gid, rootOwner: lstatSync("/").uid };
}

/** FNV-1a with 64 bits: tells homes apart. (node:crypto would cost every command its loading.) */
function hash(text: string): string {
	let sum = 0xcbf29ce484222325n;
	for (const byte of Buffer.from(text)) sum = BigInt.asUintN(64, (sum ^ BigInt(byte)) * 0x100000001b3n);
	return sum.toString(16).padStart(16, "0");
}
