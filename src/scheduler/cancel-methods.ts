// The scheduler's methods that end jobs by hand: cancel, cancelAll, clear.

import * as check from "../core/check.ts";
import type { Act, CancelReport, Scheduler } from "../scheduler.ts";
import { CANCEL_PIECE, cancel, clear, isOpenNote, notCancelled } from "./cancel.ts";
import type { Engine, Task } from "./engine.ts";
import { checkIds } from "./library-input.ts";

type Parts = {
	engine: Engine;
	run: <T>(task: Task<T>, act: Act | undefined, jobs?: readonly number[]) => Promise<T>;
	piece: number | undefined;
};

export function cancelMethods({ engine, run, piece = CANCEL_PIECE }: Parts): Pick<Scheduler, "cancel" | "cancelAll" | "clear"> {
	/** Resolves when the last of them has ended: what one transaction leaves over is done by the next ones. */
	async function together(ids: number[], act: (Act & { subtree?: boolean }) | undefined): Promise<CancelReport> {
		const what = { reason: act?.reason ?? "cancelled", subtree: act?.subtree === true, piece };
		const { note, ...report } = await run((tx) => cancel(tx, ids, what), act, ids);
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
		clear: async (act) => run((tx) => clear(tx, act?.item), act),
	};
}
