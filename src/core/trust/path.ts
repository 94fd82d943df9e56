// Whether other users of the machine could replace a path by something of their own, and whether a path stays inside a folder. Pure: the caller passes in what
// it saw of each part.
//
//   part                          must be
//   each folder above             owned by root or by us; and not writable by others, or sticky (as /tmp), where only owners may rename
//   the folder of the socket      a folder, no link; ours; without any permission for group and others
//   the socket                    a socket, no link; ours

/** What lstat(2) returns for one part of a path. `mode`: the permission bits only. */
export type PathPart = { path: string; kind: "folder" | "socket" | "link" | "other"; uid: number; gid: number; mode: number };
/** `rootOwner`: the owner of "/". That is root, but in a user namespace, such as a sandbox, root may have another number. */
export type PathUser = { uid: number; gid: number; rootOwner: number };
export type Distrust = { what: string; hint: string };

const STICKY = 0o1000;

/** Null if only root and we can change what is below it. */
export function distrustAbove({ path, uid, gid, mode }: PathPart, user: PathUser): Distrust | null {
	if (uid !== 0 && uid !== user.uid && uid !== user.rootOwner)
		return { what: `${path} belongs to another user (${uid}), who could replace what is in it`, hint: ELSEWHERE };
	if ((mode & STICKY) !== 0) return null;
	// On systems where each user has a group of the same number, that group has no other member.
	const isOwnGroup = gid === user.gid && user.gid === user.uid;
	if ((mode & 0o002) === 0 && ((mode & 0o020) === 0 || isOwnGroup)) return null;
	const bits = (mode & 0o002) === 0 ? "g-w" : "go-w";
	return { what: `${path} can be changed by other users (mode ${octal(mode)})`, hint: `chmod ${bits} ${path}; or ${ELSEWHERE}` };
}

export function distrustFolder({ path, kind, uid, mode }: PathPart, user: PathUser): Distrust | null {
	if (kind !== "folder") return { what: `${path} is no folder`, hint: ELSEWHERE };
	if (uid !== user.uid) return foreign(path, uid, user);
	if ((mode & 0o077) === 0) return null;
	return { what: `${path} is open to other users (mode ${octal(mode)})`, hint: `chmod 700 ${path}` };
}

export function distrustSocket({ path, kind, uid }: PathPart, user: PathUser): Distrust | null {
	if (uid !== user.uid) return foreign(path, uid, user);
	return kind === "link" ? { what: `${path} is a link, where a socket is expected`, hint: `rm ${path}` } : null;
}

const ELSEWHERE = "name a home in a folder that is yours alone, with --home or SLUICE_HOME";
const octal = (mode: number) => mode.toString(8);

/** Applies to root as well: a command sends its parameters and environment, and a process of another user listens there. */
export const foreign = (path: string, uid: number, user: Pick<PathUser, "uid">): Distrust => ({
	what: `${path} belongs to another user (${uid})`,
	hint:
		user.uid === 0
			? `a home is for its owner alone, not for root either; act as the owner: sudo -u '#${uid}' sluice …`
			: "name a home of your own with --home or SLUICE_HOME; to look at another user's queue, ask that user for the link of sluice open --viewer",
});

/**
 * Whether a path is a folder or below it: both whole, and told by their names alone, so the caller resolves links before. Fields instead of two texts: exchanged,
 * they would compile and turn a check around.
 */
export function isInside({ path, folder }: { path: string; folder: string }): boolean {
	if (!path.startsWith("/") || path.split("/").includes("..")) return false;
	const plain = (one: string) =>
		`/${one
			.split("/")
			.filter((part) => part !== "" && part !== ".")
			.join("/")}`;
	const [inner, outer] = [plain(path), plain(folder)];
	return outer === "/" || inner === outer || inner.startsWith(`${outer}/`);
}
