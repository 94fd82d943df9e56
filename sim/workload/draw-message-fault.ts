// Which operations of a fleet with a leader meet a fault: in the leader, in the caller, in their statements, or in the database.

import type { Fault, Op } from "../operation.ts";
import type { Random } from "../random.ts";
import { NEVER } from "./draw-fault.ts";

const OFTEN = 0.22;

export function drawMessageFault(random: Random, op: Op): void {
	if (NEVER.includes(op.kind) || !random.chance(OFTEN)) return;
	const fault = drawKind(random);
	// Some callers lose patience meanwhile.
	if (fault.patience === undefined && random.chance(0.25)) fault.patience = random.pick([20, 100, 1000]);
	op.fault = fault;
}

/** The leader dies, or its commit is in doubt. */
export const drawLeaderFault = (random: Random): Fault => ({
	kind: random.pick(["crash", "lost before", "lost after", "cut"]),
	of: "leader",
	point: random.pick(["commit", "commit", "inbox"]),
	nth: random.pick([1, 1, 2, 3]),
});

function drawKind(random: Random): Fault {
	const nth = random.pick([1, 1, 1, 2, 3]);
	const kind = random.weighted({ leader: 8, election: 3, caller: 5, doubt: 5, cut: 5, statement: 10, withdraw: 8, away: 4, outdated: 1 });
	switch (kind) {
		case "leader":
			return {
				kind: "crash",
				of: "leader",
				point: random.weighted({ begin: 2, flush: 2, commit: 3, committed: 3, inbox: 2, beats: 1, session: 1 }),
				nth,
			};
		case "election":
			return {
				kind: random.pick(["crash", "crash", "lost before", "lost after"]),
				of: "leader",
				point: random.pick(["lead", "consumed", "tries"]),
				nth: 1,
			};
		case "caller":
			return { kind: "crash", point: random.weighted({ send: 3, poll: 4, beat: 1, turn: 1, probe: 1, withdraw: 1, snapshot: 1 }), nth };
		case "doubt":
			return { kind: random.pick(["lost before", "lost after"]), of: "leader", point: "commit", nth: random.pick([1, 1, 2]) };
		case "cut":
			return random.chance(0.5)
				? { kind, of: "leader", point: "call", nth: random.pick([1, 2, 3]) }
				: { kind, of: "leader", point: random.pick(["begin", "commit", "inbox"]), nth };
		case "statement":
			return drawStatement(random);
		case "withdraw":
			return { kind, point: "call", nth: 1, patience: random.int(random.pick([15, 40, 80])) };
		case "away":
			return {
				kind,
				...(random.chance(0.4)
					? { of: "leader" as const, point: random.pick(["commit", "inbox", "begin"] as const) }
					: { point: random.pick(["send", "poll", "call"] as const) }),
				nth: 1,
				ms: random.pick([100, 3000, 60_000]),
				...(random.chance(0.5) ? { patience: random.pick([20, 1000]) } : {}),
			};
		case "outdated":
			return { kind, of: "leader", point: "call", nth: 1 };
	}
}

function drawStatement(random: Random): Fault {
	const point = random.weighted({ send: 6, poll: 3, withdraw: 3, beat: 1, inbox: 1, beats: 1 });
	const nth = random.pick([1, 1, 1, 2]);
	const of = point === "inbox" || point === "beats" ? { of: "leader" as const } : {};
	const kind = random.pick(
		point === "send" || point === "withdraw"
			? (["lost before", "lost after", "late", "late", "twice", "twice"] as const)
			: (["lost before", "lost after"] as const),
	);
	// Only an impatient caller withdraws.
	return { kind, ...of, point, nth, ...(point === "withdraw" ? { patience: random.int(40) } : {}) };
}
