// The library's methods with which people steer jobs: cancel, take back, reorder, approve, answer, forget.

import type { Clock } from "../../contracts/host.ts";
import type { Act, CancelReport, Scheduler } from "../../contracts/scheduler.ts";
import * as check from "../../core/input/check.ts";
import { CANCEL_PIECE, cancel, clear, isOpenNote, LOOKED, notCancelled } from "../operations/cancel.ts";
import { cancelMany, waitingJobs } from "../operations/cancel-many.ts";
import * as control from "../operations/control.ts";
import { rewind, rewindAll } from "../operations/rewind.ts";
import { forgetBefore } from "../operations/upkeep.ts";
import type { Engine, Task } from "../transaction/group-commit.ts";
import { closeBatch } from "../views/listings.ts";
import { checkAct, checkGranted, checkIds } from "./input.ts";

type Run = <T>(task: Task<T>, act: Act | undefined, jobs?: readonly number[]) => Promise<T>;

const id = (value: unknown) => check.integer(value, "id", 1);

/** The methods that end jobs: cancel, cancelAll, clear. */
export function cancelMethods({
	engine,
	run,
	piece = CANCEL_PIECE,
}: {
	engine: Engine;
	run: Run;
	piece: number | undefined;
}): Pick<Scheduler, "cancel" | "cancelAll" | "clear"> {
	/** Resolves when the last waiting job has ended: what does not fit into one transaction is done by the next ones. */
	async function together(ids: number[], act: (Act & { subtree?: boolean }) | undefined): Promise<CancelReport> {
		const what = { reason: act?.reason ?? "cancelled", subtree: act?.subtree === true, piece };
		const inSlices = () => cancelMany(engine, ids, { ...what, by: checkAct(act)?.by });
		if (ids.length > LOOKED) return inSlices();
		const once = await run((tx) => cancel(tx, ids, what), act, ids);
		if (once === "too many") return inSlices();
		const { note, ...report } = once;
		if (note === undefined) return report;
		while (await engine.run((tx) => isOpenNote(tx, note)));
		const ended = new Set(await engine.run((tx) => notCancelled(tx, report.cancelled)));
		return { ...report, cancelled: report.cancelled.filter((id) => !ended.has(id)), ended: [...ended] };
	}
	return {
		cancel: async (at, act) => {
			const { cancelled, requested } = await together([id(at)], act);
			return { cancelled, requested };
		},
		cancelAll: async (at, act) => together(checkIds(at), act),
		clear: async (act) => {
			const once = await run((tx) => clear(tx, act?.item), act);
			if (once !== "too many") return once;
			const how = { reason: "cleared", subtree: false, piece, by: checkAct(act)?.by };
			return { cleared: (await cancelMany(engine, await waitingJobs(engine), how)).cancelled };
		},
	};
}

type Parts = { engine: Engine; run: Run; clock: Clock; tick: () => Promise<unknown> };
type Methods = Pick<
	Scheduler,
	("retry" | "retryAll" | "rerun" | "promote" | "demote" | "priority" | "runNow") | ("approve" | "reject" | "answer" | "closeBatch" | "gc")
>;

export function jobMethods({ engine, run, clock, tick }: Parts): Methods {
	const rewound = async (at: number, what: "downstream" | "alone", act: Act | undefined) =>
		andRestarted(await run((tx) => rewind(tx, id(at), what), act, [id(at)]));

	async function andRestarted<T extends { reset: number[] }>(report: T): Promise<T & { restarted: number[] }> {
		await tick();
		return engine.run(function* (tx) {
			yield* tx.load(report.reset);
			return { ...report, restarted: report.reset.filter((one) => tx.peek(one)?.status === "running") };
		});
	}

	return {
		retry: async (at, act) => rewound(at, "downstream", act),
		retryAll: async (at, act) => {
			const wanted = checkIds(at);
			return andRestarted(await run((tx) => rewindAll(tx, wanted), act, wanted));
		},
		rerun: async (at, act) => rewound(at, "alone", act),
		promote: async (at, act) => run((tx) => control.promote(tx, id(at)), act, [id(at)]),
		demote: async (at, act) => run((tx) => control.demote(tx, id(at)), act, [id(at)]),
		priority: async (at, priority, act) => {
			const wanted = check.integer(priority, "priority", -1_000_000, 1_000_000);
			return run((tx) => control.prioritise(tx, id(at), wanted), act, [id(at)]);
		},
		runNow: async (at, act) => run((tx) => control.runNow(tx, id(at), act?.force ? "force" : "in_line"), act, [id(at)]),
		approve: async (at, act) => run((tx) => control.approve(tx, id(at)), act, [id(at)]),
		reject: async (at, act) => run((tx) => control.reject(tx, id(at), act?.reason ?? "rejected"), act, [id(at)]),
		answer: async (at, text, act) => {
			const said = check.text(text, "text");
			const grant = act?.grant === undefined ? undefined : check.taking("grant", () => checkGranted(act.grant));
			return run((tx) => control.answer(tx, id(at), said, grant), act, [id(at)]);
		},
		closeBatch: async (name, act) => run((tx) => closeBatch(tx, name), act),
		gc: async ({ days = 7 } = {}) => {
			const before = clock.now() - check.number(days, "days", 0, 100_000) * 86_400_000;
			return forgetBefore((task) => engine.run(task), before);
		},
	};
}
