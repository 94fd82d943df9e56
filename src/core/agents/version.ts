// Versions as programs print them, and whether a version is new enough for a job's permission mode.

import type { Known, Permission } from "./profile.ts";

const numberIn = (text: string): string | undefined => /(?<!\d)\d+(?:\.\d+)+/.exec(text)?.[0];

/** The number in what `--version` prints: "2.1.326 (Claude Code)", "codex-cli 0.169.0". */
export const numberOf = (version: string): string => numberIn(version) ?? version.trim().slice(0, 60);

/** Null if one of the versions cannot be read. */
export function isOlder(version: string, than: string): boolean | null {
	const [mine, other] = [version, than].map((text) => numberIn(text)?.split(".").map(Number));
	if (mine === undefined || other === undefined) return null;
	for (let at = 0; at < Math.max(mine.length, other.length); at++) {
		const [left, right] = [mine[at] ?? 0, other[at] ?? 0];
		if (left !== right) return left < right;
	}
	return false;
}

/** Why a program of this version must not be started with this permission mode; null if it may. `version` null: unknown. */
export function permissionProblem(program: string, known: Known | null, permission: Permission, version: string | null): string | null {
	const since = known?.obeys_since;
	if (since === undefined || permission === "full") return null;
	const older = version === null ? null : isOlder(version, since);
	if (older === false) return null;
	const found = older === null ? `${program}, whose --version tells no version,` : `${program} ${version}`;
	return `${found} may not obey permission ${permission}: ${since} is the first version that is known to. Update it, or give the job --permission full`;
}
