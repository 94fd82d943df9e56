// The check-up of the queue's file: whether acknowledged jobs are missing, and whether it can be read and written.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "../../core/errors.ts";
import { isDatabase } from "../../core/text/store-address.ts";
import { LOSS_HINT } from "../../core/trust/store-loss.ts";
import { holdsJobs, lossAt, markProblem } from "../../stores/sqlite/mark.ts";
import { storeError } from "../../stores/sqlite/store.ts";
import { refuseOthers } from "../../stores/sqlite/whose.ts";
import type { CheckResult, Patient } from "./doctor.ts";

const PATIENCE_MS = 2_000;

type ReadOnly = "file system" | "rights";
const WORDS: Record<ReadOnly, { is: string; hint: (path: string) => string }> = {
	"file system": { is: "is on a read-only file system", hint: () => "mount it for writing, or set SLUICE_HOME to another folder" },
	rights: { is: "may not be written by this user", hint: (path) => `ls -ld ${path}: give its owner the right to write` },
};

/** Why the path cannot be written; null when it can be, or does not exist. */
export function whyReadOnly(path: string): ReadOnly | null {
	try {
		accessSync(path, constants.W_OK);
		return null;
	} catch (error) {
		const code = codeOf(error);
		if (code === "ENOENT") return null;
		return code === "EROFS" ? "file system" : "rights";
	}
}

export const readOnly = (path: string, why: ReadOnly): CheckResult => ({
	ok: false,
	detail: `${path} ${WORDS[why].is}: no job can be added or started`,
	hint: WORDS[why].hint(path),
});

/** Checks the store of a home or of several hosts; a store in a database has its own checks. */
export function storeFinding({ store: path, isOpen = false }: Pick<Patient, "store" | "isOpen">): CheckResult {
	if (path === undefined || isDatabase(path)) return { ok: true, detail: path ?? "" };
	const stat = statSync(path, { throwIfNoEntry: false });
	if (stat && !stat.isFile())
		return { ok: false, detail: `${path} is not a file`, hint: "move it away; a back-up can be put in its place: docs/operating.md" };
	for (const one of [dirname(path), path, `${path}-wal`, `${path}-shm`]) {
		const why = whyReadOnly(one);
		if (why !== null) return readOnly(one, why);
	}
	if (isOpen) return ofOpen(path, stat !== undefined);
	try {
		const loss = lossAt(path, PATIENCE_MS);
		if (loss !== null) return { ok: false, detail: loss.message, hint: LOSS_HINT };
		refuseOthers(path, PATIENCE_MS);
		return ofMark(path, () => holdsJobs(path, PATIENCE_MS)) ?? { ok: true, detail: path };
	} catch (error) {
		throw storeError(error, path);
	}
}

function ofMark(path: string, hasJobs: () => boolean): CheckResult | null {
	const problem = markProblem(path, hasJobs);
	return problem && { ok: false, detail: problem.message, hint: problem.hint };
}

/** For a file that this process has open: checks only that the files still exist. Reading is left to the daemon's own connection. */
function ofOpen(path: string, isThere: boolean): CheckResult {
	const gone = [...(isThere ? [] : [path]), ...(existsSync(`${path}-wal`) ? [] : [`${path}-wal`])];
	// The daemon has made a mark when it opened the store, so there must be one, with or without jobs.
	if (gone.length === 0) return ofMark(path, () => true) ?? { ok: true, detail: path };
	return {
		ok: false,
		detail: `${gone.join(" and ")} ${gone.length === 1 ? "was" : "were"} deleted while the daemon works with ${gone.length === 1 ? "it" : "them"}`,
		hint: isThere
			? "sluice down writes everything into sluice.db: do it before the machine or the daemon goes down"
			: "sluice backup FILE, then put a back-up back",
	};
}
