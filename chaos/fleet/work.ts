// The work of a fleet's round, drawn from a seed: jobs with dependencies, exclusive and shared locks, lanes, retries, some that are cancelled.

export type Piece = {
	name: string;
	/** How many of its attempts fail before one succeeds. */
	fails: number;
	retries: number;
	lane: keyof typeof LANES;
	exclusive: string | null;
	shared: string | null;
	after: string[];
	ms: number;
	/** It takes no notice of signals. */
	deaf: boolean;
	/** It would run for an hour: somebody cancels it, on whichever host. */
	cancel: boolean;
};

const LANES = { default: null, tests: 5, builds: 3 } as const;
/** Longer than a lease, its grace and what is done to a host meanwhile. */
const LONG_MS = 18_000;
/** The command of a piece that lasts so long, as a list of processes shows it. */
export const LONG_COMMAND = /\/proof\.sh \S+ l\d+ /;
export const CAPS = { all: 10, host: 4, lanes: LANES };

export function drawWork(random: () => number, count: number): Piece[] {
	const pieces: Piece[] = [];
	const some = (share: number) => random() < share;
	const pick = (n: number) => Math.floor(random() * n);
	for (let n = 0; n < count; n++) {
		const fails = some(0.12) ? 1 : 0;
		// Near ones, so that the graph is deep in places; seldom many.
		const after = n > 0 && some(0.4) ? [...new Set(Array.from({ length: 1 + pick(3) }, () => `w${Math.max(0, n - 1 - pick(30))}`))] : [];
		pieces.push({
			name: `w${n}`,
			fails,
			retries: fails > 0 && some(0.1) ? 0 : some(0.1) ? 0 : 6,
			lane: some(0.3) ? "tests" : some(0.3) ? "builds" : "default",
			exclusive: some(0.25) ? `x${pick(5)}` : null,
			shared: some(0.15) ? `s${pick(2)}` : some(0.03) ? `x${pick(5)}` : null,
			after,
			ms: some(0.04) ? 3000 + pick(4000) : 30 + Math.floor(random() ** 2 * 800),
			deaf: some(0.05),
			cancel: false,
		});
		const last = pieces[n] as Piece;
		if (last.shared === last.exclusive) last.shared = null;
		// A key that is shared by many must sometimes be wanted alone.
		if (last.exclusive === null && some(0.02)) last.exclusive = last.shared === "s0" ? "s1" : "s0";
	}
	const insert = (piece: Pick<Piece, "name" | "ms" | "cancel">) =>
		pieces.splice(pick(pieces.length), 0, {
			...piece,
			fails: 0,
			retries: 6,
			lane: "default",
			exclusive: null,
			shared: some(0.5) ? "s0" : null,
			after: [],
			deaf: some(0.3),
		});
	for (let n = 0; n < Math.ceil(count / 150); n++) insert({ name: `c${n}`, ms: 3_600_000, cancel: true });
	for (let n = 0; n < Math.ceil(count / 100); n++) insert({ name: `l${n}`, ms: LONG_MS, cancel: false });
	return pieces;
}

/** Settings that count for all hosts. */
export const settingsFor = (names: readonly string[], staleAfterMs: number): Record<string, unknown> => ({
	max_concurrent: CAPS.all,
	lanes: Object.fromEntries(Object.entries(LANES).map(([name, max]) => [name, { max }])),
	hosts: Object.fromEntries(names.map((name) => [name, { max: CAPS.host }])),
	stale_after_ms: staleAfterMs,
	// Nobody waits for a host that cannot be reached.
	dispatch_backoff_ms: 100,
	queue: { soft_limit: 1_000_000 },
});

export const manifestOf = (pieces: readonly Piece[], program: string, proofs: string) => ({
	jobs: pieces.map((piece) => ({
		name: piece.name,
		lane: piece.lane,
		command: [
			"/bin/sh",
			program,
			proofs,
			piece.name,
			String(piece.ms / 1000),
			String(piece.fails),
			piece.lane,
			String(LANES[piece.lane] ?? "-"),
			piece.exclusive ?? "-",
			piece.shared ?? "-",
			piece.deaf ? "deaf" : "-",
		],
		cwd: proofs,
		env: { PATH: "/usr/local/bin:/usr/bin:/bin", FLEET_ALL: String(CAPS.all), FLEET_HOST: String(CAPS.host) },
		after: piece.after,
		locks: [
			...(piece.exclusive === null ? [] : [{ key: piece.exclusive, mode: "exclusive" as const }]),
			...(piece.shared === null ? [] : [{ key: piece.shared, mode: "shared" as const }]),
		],
		retry: { max: piece.retries, base_ms: 10, cap_ms: 50 },
	})),
});
