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
	lease: Cost;
	/** One journey between a host and the database. */
	rttMs: number;
	/** What a notice costs the database for each that listens. */
	listenerMs: number;
	walBytes: number;
	eventBytes: number;
	events: number;
};

/** Of several claims or ends in one transaction, what each further one costs. */
export const FURTHER = 0.1;

export const MEASURED: Constants = {
	base: { ms: 1, trips: 2 },
	host: { ms: 0.002, trips: 0 },
	claim: { ms: 1, trips: 0 },
	started: { ms: 1, trips: 0 },
	end: { ms: 1, trips: 0 },
	heartbeat: { ms: 0.5, trips: 0 },
	lease: { ms: 0.1, trips: 0 },
	rttMs: 0.5,
	listenerMs: 0.01,
	walBytes: 6000,
	eventBytes: 210,
	events: 3,
};
