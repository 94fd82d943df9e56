// Which reads of a transaction would miss what it has not written yet.

import type { Read } from "../store.ts";
import type { Tx } from "./tx.ts";

/** Whether a read would miss something that is not written yet. What is looked up by number or key is in memory. */
export function isHidden(tx: Tx, read: Read["read"]): boolean {
	const { changes } = tx;
	switch (read) {
		case "jobs":
		case "done":
		case "specs":
			return false;
		case "records":
			// Only those that are put aside: the others are at hand.
			return changes.records.length > 0;
		case "edges":
		case "fan":
		case "preds":
		case "preds_of":
			return changes.edges.length > 0 || changes.unedges.length > 0 || changes.forget.length > 0;
		case "links":
			return changes.links.length > 0 || changes.unlinks.length > 0 || changes.forget.length > 0;
		default:
			return tx.pending();
	}
}
