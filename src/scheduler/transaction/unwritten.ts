// Which reads of a transaction would miss changes that it has not written to the store yet.

import type { StoreRead } from "../../contracts/store.ts";
import type { Tx } from "./tx.ts";

/**
 * Whether a read would miss changes of this transaction, so that they must be written first. Jobs and records that are looked up by number or key are in
 * memory.
 */
export function isHidden(tx: Tx, read: StoreRead["read"]): boolean {
	const { changes } = tx;
	switch (read) {
		case "jobs":
		case "done":
		case "specs":
			return false;
		case "records":
			// Only records of `putAside` can be missed: all others are in memory.
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
