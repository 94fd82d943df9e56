// Finds the reading of a call under which model and engine agree, where there is more than one: probes before or after it, a fault in it, calls in one turn.

import type { HostView } from "../src/contracts/fleet.ts";
import type { BudgetView, EventRow, JobView, StatusReport } from "../src/contracts/scheduler.ts";
import { type Agents, accountDifference, agentDifference, difference, ledgerDifference } from "./compare.ts";
import { hostDifference, toldDifference } from "./compare-hosts.ts";
import type { Call } from "./engine/call.ts";
import { Disagreement, type Seen } from "./model/agree.ts";
import { copyState, type State } from "./model/state.ts";
import { sweep } from "./model/sweep.ts";
import { type Context, LOOKS_TWICE, step } from "./model.ts";

type View = ReadonlyMap<number, JobView>;
type Reading = (state: State) => void;
/** The states that fit what is seen, likeliest first; an error with what each reading said if none does. */
export type Fitting = Generator<State, void, void>;

function* fitting(state: State, readings: Reading[], fits: (state: State) => string | null, what: string): Fitting {
	let any = false;
	const found: string[] = [];
	for (const reading of readings) {
		const copy = copyState(state);
		try {
			reading(copy);
		} catch (error) {
			if (!(error instanceof Disagreement)) throw error;
			found.push(error.message);
			continue;
		}
		const different = fits(copy);
		if (different === null) {
			any = true;
			yield copy;
		} else found.push(different);
	}
	if (!any) throw new Disagreement(`${what}${[...new Set(found)].slice(0, 3).join(" / ")}`);
}

/**
 * What may have happened beside a call in a fleet with a leader. `renew`: a new leader has renewed leases, before the call or after it. `shown`: by what one can
 * see which of both it was.
 */
export type Beside = { renew?: Reading | undefined; shown: Pick<Shown, "hosts" | "events"> };

const withRenewal = (readings: Reading[], renew: Reading | undefined): Reading[] =>
	renew === undefined
		? readings
		: readings.flatMap((reading): Reading[] => [
				(copy) => {
					renew(copy);
					reading(copy);
				},
				(copy) => {
					reading(copy);
					renew(copy);
				},
			]);

/** A call that was answered. Where the engine looked around during it, it may have done so before or after it decided. */
export function* followCall(state: State, call: Call, seen: Seen, context: Context, view: View, beside?: Beside): Fitting {
	if (context.probed.length === 0 && beside?.renew === undefined) {
		step(state, call, seen, context);
		return yield state;
	}
	const reading =
		(probes: "first" | "new" | "last" | "none", unwatched?: true): Reading =>
		(copy) => {
			const then = unwatched ? { ...context, unwatched } : context;
			step(copy, call, seen, probes === "none" ? { ...then, probed: [] } : { ...then, probes });
		};
	const ways = context.probed.length === 0 ? (["none"] as const) : (["first", "last", "new", "none"] as const);
	const readings = ways.map((probes) => reading(probes));
	// The caller began to lead, or ceased to, while it was at it.
	if (beside?.renew && LOOKS_TWICE.includes(call.method)) readings.push(...ways.map((probes) => reading(probes, true)));
	// What a refused add found out on the way is not kept.
	if (seen.error !== undefined)
		readings.unshift((copy) => {
			reading("first")(copyState(copy));
			sweep(copy, seen);
		});
	const fits = (copy: State) => difference(copy, view) ?? (beside?.renew ? fleetDifference(copy, beside.shown) : null);
	yield* fitting(state, withRenewal(readings, beside?.renew), fits, "");
}

/** All by which one can see whether a call was done. */
export type Shown = {
	view: View;
	ledgers: BudgetView[];
	holds: StatusReport["holds"];
	agents: Agents;
	hosts: HostView[];
	events: EventRow[];
};

const fleetDifference = (state: State, { hosts, events }: Pick<Shown, "hosts" | "events">) =>
	state.fleet ? (hostDifference(state, hosts) ?? toldDifference(state, events)) : null;

/** A failed or unanswered call: it happened in whole or not at all (a sweep before it, and what was probed, count apart). */
export function* followFault(
	state: State,
	call: Call,
	seen: Seen,
	context: Context,
	shown: Shown,
	{ mayHaveHappened, renew }: { mayHaveHappened: boolean; renew?: Reading | undefined },
): Fitting {
	const quiet: Context = { ...context, probed: [] };
	const readings: Reading[] = [(copy) => step(copy, undefined, seen, quiet)];
	if (context.probed.length > 0) readings.push((copy) => step(copy, undefined, seen, context));
	if (mayHaveHappened && state.fleet && LOOKS_TWICE.includes(call.method))
		readings.push(
			(copy) => step(copy, call, seen, { ...context, unwatched: true }),
			(copy) => step(copy, call, seen, { ...quiet, unwatched: true }),
		);
	if (mayHaveHappened)
		readings.push(
			(copy) => step(copy, call, seen, context),
			(copy) => step(copy, call, seen, { ...context, probes: "last" }),
			// What it had found out was not kept.
			(copy) => step(copy, call, seen, quiet),
		);
	const fits = (copy: State) =>
		difference(copy, shown.view) ??
		ledgerDifference(copy, shown.ledgers) ??
		accountDifference(copy, shown.holds) ??
		agentDifference(copy, shown.agents) ??
		fleetDifference(copy, shown);
	yield* fitting(state, withRenewal(readings, renew), fits, `after a fault in ${call.method}, neither done nor undone: `);
}

/** Calls of one turn take effect one after the other, in an order that is the engine's own: some order must explain every answer. */
export function* followOrder(
	state: State,
	made: { call: Call; seen: Seen; host: string; unwatched?: true }[],
	context: Omit<Context, "host">,
	shown: Pick<Shown, "view" | "hosts" | "events">,
): Fitting {
	// Whoever looks around is held up by it: what it found may come to be known only when others have been through.
	const places = context.probed.length === 0 ? [0] : made.map((_, index) => index);
	const reading = (order: typeof made, at: number) =>
		(["first", "new", "refused"] as const).map(
			(probes): Reading =>
				(copy) => {
					for (const [index, { call, seen, ...by }] of order.entries()) {
						const then: Context = index === at && probes !== "refused" ? { ...context, ...by, probes } : { ...context, ...by, probed: [] };
						if (probes === "refused" && seen.error !== undefined) {
							// What a refused add found out on the way is not kept.
							step(copyState(copy), call, seen, { ...context, ...by, probes: "first" });
							sweep(copy, seen);
						} else step(copy, call, seen, then);
					}
				},
		);
	const lookedLast =
		(order: typeof made): Reading =>
		(copy) => {
			for (const { call, seen, ...by } of order) step(copy, call, seen, { ...context, ...by, probed: [] });
			const last = order.at(-1);
			if (last !== undefined) step(copy, undefined, last.seen, { ...context, host: last.host });
		};
	const orders = [...permutations(made)];
	// Those that look around of their own accord, and once more when they are done, are the likeliest to have found it.
	const isLooking = (order: typeof made, at: number) => LOOKS_TWICE.includes(order[at]?.call.method ?? "");
	const pairs = places.flatMap((at) => orders.map((order) => ({ order, at })));
	const likely = pairs.filter(({ order, at }) => isLooking(order, at));
	const readings = [...likely, ...pairs.filter((pair) => !likely.includes(pair))].flatMap(({ order, at }) => reading(order, at));
	// They look until nothing is left in doubt: what they found may have come when all were through, also of what others brought into doubt.
	if (context.probed.length > 0 && made.some(({ call, seen }) => LOOKS_TWICE.includes(call.method) && seen.error === undefined))
		readings.push(...orders.map(lookedLast));
	yield* fitting(
		state,
		readings,
		(copy) => difference(copy, shown.view) ?? fleetDifference(copy, shown),
		`no order of ${made.map(({ call }) => call.method).join(", ")} explains the answers: `,
	);
}

function* permutations<T>(list: T[]): Generator<T[]> {
	if (list.length <= 1) yield list;
	for (const [index, first] of list.entries()) {
		if (list.length > 1) for (const rest of permutations(list.toSpliced(index, 1))) yield [first, ...rest];
	}
}
