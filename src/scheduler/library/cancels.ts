// The scheduler's methods that end jobs by hand: cancel, cancelAll, clear.

import type { Act, CancelReport, Scheduler } from "../../contracts/scheduler.ts";
import * as check from "../../core/input/check.ts";
import { CANCEL_PIECE, cancel, clear, isOpenNote, LOOKED, notCancelled } from "../operations/cancel.ts";
import { cancelMany, waitingJobs } from "../operations/cancel-many.ts";
import type { Engine, Task } from "../transaction/group-commit.ts";
import { checkAct, checkIds } from "./input.ts";

type Parts = {
	engine: Engine;
	run: <T>(task: Task<T>, act: Act | undefined, jobs?: readonly number[]) => Promise<T>;
	piece: number | undefined;
};

export function cancelMethods({ engine, run, piece = CANCEL_PIECE }: Parts): Pick<Scheduler, "cancel" | "cancelAll" | "clear"> {
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
			const { cancelled, requested } = await together([check.integer(at, "id", 1)], act);
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
