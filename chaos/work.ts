// The work of a chaos round: 40 jobs with dependencies, locks and retries, drawn from a seed, and what must have become of each.

export type Piece = {
	name: string;
	/** How many of its attempts fail before one succeeds. */
	fails: number;
	retries: number;
	lock: string | null;
	after: string[];
	ms: number;
	/** It would run for an hour: somebody cancels it, or its timeout ends it. */
	stop: "cancel" | "timeout" | null;
};

/** Small and good enough: the same seed gives the same work. */
export function randomOf(seed: number): () => number {
	let state = seed >>> 0 || 1;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let t = state;
		t = Math.imul(t ^ (t >>> 15), t | 1);
		t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
		return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
	};
}

export function drawWork(random: () => number, count: number): Piece[] {
	const pieces: Piece[] = [];
	for (let n = 0; n < count; n++) {
		const fails = random() < 0.2 ? 1 : 0;
		const after = pieces.filter(() => random() < 0.06).map((piece) => piece.name);
		pieces.push({
			name: `w${n}`,
			fails,
			retries: fails > 0 && random() < 0.25 ? 0 : 2,
			lock: random() < 0.3 ? `k${Math.floor(random() * 3)}` : null,
			after,
			ms: 20 + Math.floor(random() ** 2 * 1500),
			stop: null,
		});
	}
	for (const [n, stop] of (["cancel", "timeout", "cancel"] as const).entries())
		pieces.splice(Math.floor(random() * pieces.length), 0, {
			name: `s${n}`,
			fails: 0,
			retries: 0,
			lock: n === 0 ? "k0" : null,
			after: [],
			ms: 3_600_000,
			stop,
		});
	return pieces;
}

/** `exit_kind` where the run was stopped on purpose. */
export type Fate = {
	status: "succeeded" | "failed" | "cancelled" | "blocked_by_dependency";
	attempts: number;
	exit_kind?: "cancelled" | "timeout";
};

/** What must come of each: kills of the daemon change nothing. */
export function fates(pieces: readonly Piece[]): Map<string, Fate> {
	const all = new Map<string, Fate>();
	for (const piece of pieces) {
		if (piece.stop !== null) {
			if (piece.stop === "cancel") all.set(piece.name, { status: "cancelled", attempts: 1, exit_kind: "cancelled" });
			else all.set(piece.name, { status: "failed", attempts: 1, exit_kind: "timeout" });
			continue;
		}
		const blocked = piece.after.some((name) => all.get(name)?.status !== "succeeded");
		if (blocked) all.set(piece.name, { status: "blocked_by_dependency", attempts: 0 });
		else if (piece.fails > piece.retries) all.set(piece.name, { status: "failed", attempts: piece.retries + 1 });
		else all.set(piece.name, { status: "succeeded", attempts: piece.fails + 1 });
	}
	return all;
}

export const manifestOf = (pieces: readonly Piece[], program: string, proofs: string) => ({
	jobs: pieces.map((piece) => ({
		name: piece.name,
		command: [
			"/bin/sh",
			program,
			proofs,
			piece.name,
			String(piece.ms),
			String(piece.fails),
			piece.stop === null ? (piece.lock ?? "-") : "-",
		],
		cwd: proofs,
		env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
		after: piece.after,
		...(piece.lock === null ? {} : { locks: [piece.lock] }),
		...(piece.stop === "timeout" ? { timeout: "700ms" } : {}),
		retry: { max: piece.retries, base_ms: 10, cap_ms: 10 },
	})),
});
