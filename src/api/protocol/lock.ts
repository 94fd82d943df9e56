// The method of locks.

import type { Doc } from "../documents.ts";
import { method } from "../fields.ts";

export type LockDocument = { key: string; holders: { job: number; mode: "shared" | "exclusive" }[]; reserved_for: number | null };

export const LOCK_METHODS = {
	"lock.list": method<Doc<{ locks: LockDocument[] }>>()({
		role: "viewer",
		about: "Locks that are held, by whom, and for whom one is kept free.",
		params: {},
		result: "{locks: [{key, holders: [{job, mode}], reserved_for}]}",
	}),
} as const;
