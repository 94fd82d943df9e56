// What the model of a fleet's load counts with: measured by the row pg-load, on the machine that docs/fleet-load.md names.

/** A kind of work in a transaction: what the database and the host have to do with the lock held, and journeys between them meanwhile. */
export type Cost = { ms: number; trips: number };

export type Constants = {
	/** Taking the lock, reading what stands, giving it back: every transaction after somebody else's. */
	base: Cost;
	/** On top of it: for each host on record, which it reads. */
	host: Cost;
	/** And for each of what is done. */
	claim: Cost;
	started: Cost;
	end: Cost;
	heartbeat: Cost;
	/** Until a commit is on disk. */
	syncMs: number;
	/** One journey between a host and the database. */
	rttMs: number;
	/** What a notice costs the database for each that listens. */
	listenerMs: number;
	walBytes: number;
	eventBytes: number;
	events: number;
};

/** Of several claims, starts or ends in one transaction, what each further one costs of what the first does. */
export const FURTHER = 0.02;

/**
 * Milliseconds are of processor, host and database together, since a host works with the lock held; a writing transaction has one sync of the log on
 * top (`syncMs`). The base is a poll, what is done is what it takes beyond that.
 */
export const MEASURED: Constants = {
	base: { ms: 2.1, trips: 1.5 },
	host: { ms: 0.004, trips: 0 },
	claim: { ms: 8, trips: 3 },
	started: { ms: 4.7, trips: 1 },
	end: { ms: 2.4, trips: 1 },
	heartbeat: { ms: 1.3, trips: 1 },
	syncMs: 0.4,
	rttMs: 0.5,
	listenerMs: 0.03,
	walBytes: 6000,
	eventBytes: 200,
	events: 3,
};
