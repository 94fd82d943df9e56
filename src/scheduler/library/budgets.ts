// The library's methods for budgets: grant, charge, list.

import type { Scheduler } from "../../contracts/scheduler.ts";
import { alignWindow, chargeLedger, freshLedger, ledgerOf, putLedger, viewBudget } from "../limits/budgets.ts";
import type { LibraryParts } from "./parts.ts";

export const ledgerMethods = ({ engine, run }: LibraryParts) =>
	({
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
			engine.lookPlain((tx) => {
				const lists = subject === undefined ? [...tx.memory.ledgers.values()] : [tx.memory.ledgers.get(subject) ?? []];
				return lists.flat().map((ledger) => viewBudget(tx, ledger));
			}),
	}) satisfies Partial<Scheduler>;
