// The methods of budgets.

import { doc, type Handlers } from "../call.ts";

export const budgetMethods: Handlers<"budget"> = {
	"budget.list": async ({ subject }, { context }) => doc({ budgets: await context.scheduler.ledgers(subject) }),
	"budget.grant": async ({ subject, dim, limit, window, warn_at, on_breach }, { context, by }) => {
		const grant = {
			limit,
			...(window === undefined ? {} : { window }),
			...(warn_at === undefined ? {} : { warn_at }),
			...(on_breach === undefined ? {} : { on_breach }),
		};
		return doc({ budget: await context.scheduler.grant(subject, dim, grant, { by }) });
	},
	"budget.report": async ({ subject, dim, amount }, { context }) => {
		const { warned, first_breach, ...budget } = await context.scheduler.charge(subject, dim, amount);
		return doc({ budget, warned, first_breach });
	},
};
