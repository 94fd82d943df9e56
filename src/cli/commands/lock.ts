// sluice lock list: locks that are held.

import type { LockDocument } from "../../api/protocol/lock.ts";
import type { Call } from "../command.ts";
import { answer, type Io } from "../io.ts";
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

export async function run(_call: Call, io: Io): Promise<undefined> {
	const document = await io.ask("lock.list");
	answer(io, document, () => printList(io, document.locks, COLUMNS, "no lock is held"));
}
