// Contract of the people who share a daemon: kept in the store, so that all hosts of a fleet have the same people.

import type { People, PeopleChange, PeopleResult } from "../core/trust/people.ts";

export interface PeopleRecord {
	/** All people, with the digests of links and sessions. */
	read(): Promise<People>;
	/** One change in one transaction, with its event: only the first caller with a link is signed in. */
	change(change: PeopleChange, act?: { by?: string }): Promise<PeopleResult>;
}
