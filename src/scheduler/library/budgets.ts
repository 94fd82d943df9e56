// The library's methods for budgets: grant, charge, list.

import type { Act, Scheduler } from "../../contracts/scheduler.ts";
import { alignWindow, chargeLedger, freshLedger, ledgerOf, putLedger, viewBudget } from "../limits/budgets.ts";
import type { Engine, Task } from "../transaction/group-commit.ts";

type Parts = { engine: Engine; run: <T>(task: Task<T>, act: Act | undefined) => Promise<T> };

export const ledgerMethods = ({ engine, run }: Parts): Pick<Scheduler, "grant" | "charge" | "ledgers"> => ({
	grant: async (subject, dim, grant, act) =>
		run(function* (tx) {
			const before = ledgerOf(tx, subject, dim) ?? freshLedger(subject, dim);
			yield* putLedger(tx, alignWindow(tx, { ...before, ...grant, used: viewBudget(tx, before).used }));
			tx.event("granted", null, { subject, dim, limit: grant.limit });
			tx.stirred = true;
			return viewBudget(tx, ledgerOf(tx, subject, dim) ?? before);
		}, act),
	charge: async (subject, dim, amount) =>
		engine.run(function* (tx) {
			if (!ledgerOf(tx, subject, dim)) yield* putLedger(tx, freshLedger(subject, dim));
			const news = yield* chargeLedger(tx, subject, dim, amount);
			const ledger = news?.ledger ?? freshLedger(subject, dim);
			return { ...viewBudget(tx, ledger), warned: news?.warned ?? false, first_breach: news?.first_breach ?? false };
		}),
	ledgers: async (subject) =>
		engine.look(function* (tx) {
			yield* [];
			const lists = subject === undefined ? [...tx.memory.ledgers.values()] : [tx.memory.ledgers.get(subject) ?? []];
			return lists.flat().map((ledger) => viewBudget(tx, ledger));
		}),
});
