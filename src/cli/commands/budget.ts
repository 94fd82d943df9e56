// sluice budget list, grant and report: the cost of jobs in groups; with three arguments, a charge.

import type { BudgetDocument, CostDocument } from "../../api/protocol/budget.ts";
import type { Params } from "../../api/protocol.ts";
import { dollars } from "../../core/ledger.ts";
import { amountOf, windowOf } from "../amounts.ts";
import { byVerb, type Call } from "../command.ts";
import { usage } from "../failure.ts";
import { nothing, oneMethod } from "../one-method.ts";
import { count, field, type ListColumn, printList, right } from "../printing/list.ts";
import { plain } from "../printing/print.ts";
import { printable } from "../printing/sequences.ts";
import { budgetWords } from "../printing/status-lines.ts";

export const run = byVerb({
	list: oneMethod("budget.list", nothing, ({ budgets }, io) =>
		printList(io, budgets, COLUMNS, "no budgets; sluice budget grant makes one"),
	),
	grant: oneMethod("budget.grant", grantOf, ({ budget }) => budgetWords(budget)),
	report: (call, io) => (call.args("SUBJECT").length > 0 ? charge : costs)(call, io),
});

function grantOf(call: Call): Params<"budget.grant"> {
	const [dim, limit, reserve] = [call.arg("DIMENSION"), call.arg("LIMIT"), call.text("reserve")];
	return {
		subject: call.arg("SUBJECT"),
		dim,
		limit: limit === "none" ? null : amountOf(limit, dim, "LIMIT"),
		...windowOf(call),
		on_breach: call.choice("on-breach", ["finish", "stop"]),
		reserve: reserve === undefined ? undefined : amountOf(reserve, dim, "--reserve"),
	};
}

/** Money in dollars, other values unchanged. */
const amount = (value: unknown, dim: string) => (dim === "cost_micro" && typeof value === "number" ? dollars(value) : plain(value));

const COLUMNS: readonly ListColumn<BudgetDocument>[] = [
	field("subject"),
	field("dim", "DIMENSION"),
	{
		title: "USED",
		...right,
		cell: ({ used, dim, over_limit }, io) => (over_limit ? io.print.paint("red", amount(used, dim)) : amount(used, dim)),
	},
	{ title: "RUNNING", ...right, cell: ({ reserved, dim }) => (reserved ? amount(reserved, dim) : "") },
	{ title: "LIMIT", ...right, cell: ({ limit, dim }) => (limit === null ? "–" : amount(limit, dim)) },
	{
		title: "",
		...right,
		cell: ({ used, limit }) => (typeof limit === "number" && limit > 0 ? `${Math.round((100 * Number(used)) / limit)} %` : ""),
	},
	{ title: "WINDOW", cell: ({ window }) => (window === null || window === undefined ? "" : `each ${plain(window)}`) },
	{ title: "THEN", cell: ({ on_breach }) => (on_breach === "stop" ? "stop runs" : "") },
];

/** As `budget.report` groups them; the module of the protocol is too much to load for six words. */
const COST_GROUPS = ["batch", "owner", "repo", "lane", "agent", "job"] as const;

function chargeOf(call: Call): Params<"budget.report"> {
	const [subject = "", dim, amount] = [call.arg("SUBJECT"), call.args("DIMENSION")[0], call.args("AMOUNT")[0]];
	if (dim === undefined || amount === undefined)
		throw usage(
			"a charge needs SUBJECT, DIMENSION and AMOUNT",
			`what ${printable(subject)} has left: sluice budget list; what jobs cost: sluice budget report --per owner`,
		);
	for (const option of ["per", "batch", "owner", "repo"])
		if (call.has(option)) throw usage(`--${option} goes with the report of costs, not with a charge`, "leave one of them out");
	return { subject, dim, amount: amountOf(amount, dim, "AMOUNT") };
}

const charge = oneMethod("budget.report", chargeOf, (document) => ("budget" in document ? budgetWords(document.budget) : undefined));

const costs = oneMethod(
	"budget.report",
	(call) => ({ per: call.choice("per", COST_GROUPS), batch: call.text("batch"), owner: call.text("owner"), repo: call.text("repo") }),
	(document, io) => {
		if ("costs" in document) printList(io, document.costs, costColumns(document.per), "nothing has run yet");
	},
);

const costColumns = (per: string): readonly ListColumn<CostDocument>[] => [
	{ title: per.toUpperCase(), shrink: 10, cell: ({ name }) => (name === null ? `(no ${per})` : printable(name)) },
	count("jobs"),
	count("runs"),
	{ title: "TOKENS", ...right, cell: ({ tokens, usage: used }) => (used.tokens === undefined ? "" : String(tokens)) },
	{ title: "COST", ...right, cell: ({ usage: used }) => (used.cost_micro === undefined ? "" : dollars(used.cost_micro)) },
	{
		title: "BESIDES",
		shrink: 10,
		cell: ({ usage: used }) =>
			Object.entries(used)
				.filter(([dim]) => dim !== "tokens" && dim !== "cost_micro")
				.map(([dim, amount]) => `${amount} ${printable(dim)}`)
				.join(", "),
	},
];
