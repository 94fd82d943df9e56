// sluice lock list: locks that are held.

import type { LockDocument } from "../../api/protocol/lock.ts";
import { nothing, oneMethod } from "../one-method.ts";
import { field, type ListColumn, printList } from "../printing/list.ts";

const COLUMNS: readonly ListColumn<LockDocument>[] = [
	field("key", "LOCK"),
	{
		title: "HELD BY",
		shrink: 12,
		cell: ({ holders }) => (holders ?? []).map(({ job, mode }) => `${job}${mode === "shared" ? " (shared)" : ""}`).join(", "),
	},
	field("reserved_for", "KEPT FOR"),
];

export const run = oneMethod("lock.list", nothing, ({ locks }, io) => printList(io, locks, COLUMNS, "no lock is held"));
