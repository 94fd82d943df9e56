// The methods of budgets, and what jobs have cost.

import type { BudgetView } from "../../contracts/scheduler.ts";
import { DIMENSION, GRANT, SUBJECT } from "../../core/schema/budget.ts";
import type { Doc, Timed } from "../documents.ts";
import { adminMethod, choice, label, maybe, viewerMethod, whole, word } from "../fields.ts";

export type BudgetDocument = Timed<BudgetView, "refills_at">;
/** Reported usage of a group of jobs. */
export type CostDocument = {
	/** The group's name; null for jobs that belong to none. */
	name: string | null;
	jobs: number;
	runs: number;
	cost_micro: number;
	tokens: number;
	/** Every dimension that was reported. */
	usage: Record<string, number>;
};
export const COST_GROUPS = ["batch", "owner", "repo", "lane", "agent", "job"] as const;

export const BUDGET_METHODS = {
	"budget.list": viewerMethod<Doc<{ budgets: BudgetDocument[] }>>()({
		about: "Budgets by subject and dimension.",
		params: { subject: maybe(word("only of `owner:<name>`, `batch:<name>` or `repo:<name>`")) },
		result: "{budgets: [{subject, dim, used, limit, warn_at, window, over_limit, reserved, reserve, on_breach, refills_at}]}",
	}),
	"budget.grant": adminMethod<Doc<{ budget: BudgetDocument }>>()({
		about: "Sets a limit; what waited for it goes on at once.",
		params: { subject: SUBJECT, dim: DIMENSION, ...GRANT },
		result: "{budget}",
	}),
	"budget.report": viewerMethod<
		| Doc<{ per: (typeof COST_GROUPS)[number]; costs: CostDocument[] }>
		| Doc<{ budget: BudgetDocument; warned: boolean; first_breach: boolean }>
	>()({
		about:
			"What jobs have cost, as their runs reported it, by batch or another trait, the dearest first. With `subject`, `dim` and `amount`, an operator's business: charges use that no run of ours reported; below zero takes back.",
		acts: "operator",
		params: {
			per: maybe(choice("one line per (batch)", COST_GROUPS)),
			batch: maybe(label("only jobs of this batch")),
			owner: maybe(word("only jobs of this owner")),
			repo: maybe(label("only jobs of this repo")),
			subject: maybe({ ...SUBJECT, about: `charge: ${SUBJECT.about}` }),
			dim: maybe({ ...DIMENSION, about: "charge: the dimension" }),
			amount: maybe(whole("charge: as a delta, in whole units", -Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)),
		},
		result: "{per, costs: [{name, jobs, runs, cost_micro, tokens, usage}]}, or {budget, warned, first_breach}",
	}),
} as const;
