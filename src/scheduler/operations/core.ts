// What the library's methods stand on: named operations that change the store, reads on one snapshot, dry runs. And its implementation on an engine of this
// process.

import type { Op } from "../../contracts/store.ts";
import { dropStaleStages } from "../apply/stages.ts";
import type { Engine, Task } from "../transaction/group-commit.ts";
import type { Settlement } from "../transaction/pending.ts";
import type { Tx } from "../transaction/tx.ts";
import { hasContinuations } from "../waiting/continuation.ts";
import { nextWake } from "../waiting/due.ts";
import { watchHosts } from "./hosts.ts";
import { OPERATIONS, type Operation } from "./index.ts";
import { dropOldAsks } from "./outputs.ts";
import { dropEmptyBuckets } from "./upkeep.ts";

export type OperationName = keyof typeof OPERATIONS;
export type ArgumentsOf<N extends OperationName> = (typeof OPERATIONS)[N] extends Operation<infer A, infer _R> ? A : never;
export type ResultOf<N extends OperationName> = (typeof OPERATIONS)[N] extends Operation<infer _A, infer R> ? R : never;
/** The arguments of an operation as plain JSON data, or a function that makes them anew for each attempt to carry it out. */
export type Given<N extends OperationName> = ArgumentsOf<N> | (() => ArgumentsOf<N>);
/** `by`: in whose name. `settled`: called in the transaction, before it is committed, with how the operation ended. */
export type CallOptions = { by?: string | undefined; settled?: ((outcome: Settlement) => void) | undefined };

export const argumentsFrom = <N extends OperationName>(given: Given<N>): ArgumentsOf<N> => (isMade(given) ? given() : given);

/** The operation of this name, for arguments that came as JSON; undefined if there is none. */
export const operationOf = (name: string): Operation<unknown, unknown> | undefined =>
	Object.hasOwn(OPERATIONS, name) ? (OPERATIONS[name as OperationName] as Operation<unknown, unknown>) : undefined;

export interface Core {
	/**
	 * Carries out a named operation in one transaction; resolves when its effect is durable. `by`: in whose name. An engine may run an operation twice: an
	 * operation that changes its arguments must be given a function.
	 */
	call<N extends OperationName>(name: N, given: Given<N>, options?: CallOptions): Promise<ResultOf<N>>;
	/** Runs a task that only reads, on one snapshot. `jobs`: those that it will read. */
	look<T>(task: Task<T>, options?: { jobs?: readonly number[] }): Promise<T>;
	/** Carries out an operation in a transaction of its own and rolls it back. */
	dryRun<N extends OperationName>(name: N, given: Given<N>): Promise<ResultOf<N>>;
	/**
	 * A claim that stands if nothing can start now: the next one of the same worker gets the runs that were assigned to it meanwhile, and `onCommit` says when there
	 * are some. Absent: a claim is answered at once. `retire` ends the claims of a worker, and returns what was still assigned to it.
	 */
	claimStanding?(claim: ArgumentsOf<"claim">): Promise<ResultOf<"claim">>;
	retire?(worker: string): Promise<ResultOf<"claim">>;
	/** Keeps this process from claiming while a large cancel reads its jobs. Returns a function that ends it. */
	holdClaims(): () => void;
	/** One pass of upkeep: when the next one is due, and whether there is more to do at once. */
	keepUp(): Promise<{ wake: number | null; more: boolean }>;
	/** The last event that this process knows of, where its own commits do not show all that happened; undefined while they do. */
	lastHeard?(): number | undefined;
	/** Whether this process is the leader of several. Absent: the host with the oldest life is. */
	leads?(): Promise<boolean>;
	/** Called after each commit. */
	onCommit: Engine["onCommit"];
	close(): Promise<void>;
}

const NO_OPTIONS = {};

export function engineCore(engine: Engine): Core {
	return {
		call<N extends OperationName>(name: N, given: Given<N>, { by, settled }: CallOptions = NO_OPTIONS): Promise<ResultOf<N>> {
			const row: Operation<ArgumentsOf<N>, ResultOf<N>> = OPERATIONS[name] as never;
			const { phase } = row;
			if (!isMade(given))
				return engine.run((tx) => row.run(tx, given), { by, jobs: row.jobs?.(given), locks: row.locks?.(given), phase, settled });
			if (row.locks) return callMade(engine, row, given, { by, settled });
			return engine.run((tx) => row.run(tx, given()), { by, jobs: undefined, locks: undefined, phase, settled });
		},
		look: (task, options) => engine.look(task, options),
		dryRun: (name, given) => engine.dryRun((tx) => (operationOf(name) as Operation<unknown, never>).run(tx, argumentsFrom(given))),
		holdClaims() {
			engine.cancelling++;
			let held = true;
			return () => {
				if (held) engine.cancelling--;
				held = false;
			};
		},
		keepUp: () => engine.run(keepUp, { intent: "look" }),
		get onCommit() {
			return engine.onCommit;
		},
		set onCommit(call) {
			engine.onCommit = call;
		},
		close: () => engine.close(),
	};
}

/** Arguments are data, so a function is one that makes them. */
const isMade = <A>(given: A | (() => A)): given is () => A => typeof given === "function";

/**
 * The arguments are made when the engine begins an attempt: they say what counts then. The locks that they name are loaded in advance; the jobs that the
 * operation will read are not.
 */
function callMade<A, R>(engine: Engine, row: Operation<A, R>, make: () => A, { by, settled }: CallOptions): Promise<R> {
	const { phase } = row;
	let made: A | undefined;
	const task: Task<R> = (tx) => {
		const args = made ?? make();
		made = undefined;
		return row.run(tx, args);
	};
	const hint = (): readonly string[] => {
		try {
			made = make();
			return row.locks?.(made) ?? [];
		} catch {
			// The task will make them again and fail with the same error, which then refuses this operation and no other of its transaction.
			made = undefined;
			return [];
		}
	};
	return engine.run(task, { by, jobs: undefined, locks: hint, phase, settled });
}

function* keepUp(tx: Tx): Op<{ wake: number | null; more: boolean }> {
	watchHosts(tx);
	dropStaleStages(tx);
	dropOldAsks(tx);
	dropEmptyBuckets(tx);
	return { wake: yield* nextWake(tx), more: hasContinuations(tx) };
}
