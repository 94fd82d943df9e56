// The method of locks.

import type { LockView } from "../../contracts/scheduler.ts";
import type { Doc } from "../documents.ts";
import { viewerMethod } from "../fields.ts";

export type LockDocument = LockView;

export const LOCK_METHODS = {
	"lock.list": viewerMethod<Doc<{ locks: LockDocument[] }>>()({
		about: "Locks that are held, by whom, and for whom one is kept free.",
		params: {},
		result: "{locks: [{key, holders: [{job, mode}], reserved_for}]}",
	}),
} as const;
