// The library's methods for accounts (list them, report a limit, clear one, acquire and release call slots) and for budgets.

import type { Scheduler } from "../../contracts/scheduler.ts";
import { viewBudget } from "../limits/budgets.ts";
import { reading } from "../transaction/pending.ts";
import { viewAccounts } from "../views/accounts.ts";
import type { LibraryParts } from "./parts.ts";

export const accountMethods = ({ core }: LibraryParts) =>
	({
		accounts: () => core.look(viewAccounts),
		limit: async (account, report, act) => core.call("limitAccount", { account, report }, act),
		clearAccount: async (account, act) => core.call("clearAccount", { account }, act),
		acquireCall: async (account, holder) => core.call("acquireCall", { account, holder }),
		releaseCall: async (account, holder) => core.call("releaseCall", { account, holder }),
	}) satisfies Partial<Scheduler>;

export const ledgerMethods = ({ core }: LibraryParts) =>
	({
		grant: async (subject, dim, grant, act) => core.call("grantBudget", { subject, dim, grant }, act),
		charge: async (subject, dim, amount) => core.call("chargeBudget", { subject, dim, amount }),
		ledgers: async (subject) =>
			core.look(
				reading((tx) => {
					const lists = subject === undefined ? [...tx.memory.ledgers.values()] : [tx.memory.ledgers.get(subject) ?? []];
					return lists.flat().map((ledger) => viewBudget(tx, ledger));
				}),
			),
	}) satisfies Partial<Scheduler>;
