// sluice budget list, grant and report: the cost of jobs in groups; with three arguments, a charge.

import type { BudgetDocument } from "../../api/protocol/budget.ts";
import { dollars } from "../../core/ledger.ts";
import { amountOf } from "../amounts.ts";
import { byVerb, type Call } from "../command.ts";
import { usage } from "../failure.ts";
import { answer, type Io } from "../io.ts";
import { field, type ListColumn, printList, right } from "../printing/list.ts";
import { plain } from "../printing/print.ts";
import { printable } from "../printing/sequences.ts";
import { budgetWords } from "../printing/status-lines.ts";
import { table } from "../printing/table.ts";

export const run = byVerb({ list, grant, report });

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

async function list(_call: Call, io: Io): Promise<undefined> {
	const document = await io.ask("budget.list");
	answer(io, document, () => printList(io, document.budgets, COLUMNS, "no budgets; sluice budget grant makes one"));
}

async function grant(call: Call, io: Io): Promise<undefined> {
	const warnAt = call.text("warn-at");
	if (warnAt !== undefined && !/^(?:0?\.\d+|[01](?:\.0+)?)$/.test(warnAt))
		throw usage("--warn-at must be a share from 0 to 1", "for example 0.8");
	const window = call.choice("window", ["hour", "day", "none"]);
	const reserve = call.text("reserve");
	const dim = call.arg("DIMENSION");
	const document = await io.ask("budget.grant", {
		subject: call.arg("SUBJECT"),
		dim,
		limit: call.arg("LIMIT") === "none" ? null : amountOf(call.arg("LIMIT"), dim, "LIMIT"),
		window: window === "none" ? null : window,
		...(warnAt === undefined ? {} : { warn_at: Number(warnAt) }),
		on_breach: call.choice("on-breach", ["finish", "stop"]),
		...(reserve === undefined ? {} : { reserve: amountOf(reserve, dim, "--reserve") }),
	});
	answer(io, document, () => io.print.say(budgetWords(document.budget)));
}

/** As `budget.report` groups them; the module of the protocol is too much to load for six words. */
const COST_GROUPS = ["batch", "owner", "repo", "lane", "agent", "job"] as const;

async function report(call: Call, io: Io): Promise<undefined> {
	const [subject, dim, amount] = [call.args("SUBJECT")[0], call.args("DIMENSION")[0], call.args("AMOUNT")[0]];
	if (subject === undefined) return costs(call, io);
	if (dim === undefined || amount === undefined)
		throw usage(
			"a charge needs SUBJECT, DIMENSION and AMOUNT",
			`what ${printable(subject)} has left: sluice budget list; what jobs cost: sluice budget report --per owner`,
		);
	for (const option of ["per", "batch", "owner", "repo"])
		if (call.has(option)) throw usage(`--${option} goes with the report of costs, not with a charge`, "leave one of them out");
	const document = await io.ask("budget.report", { subject, dim, amount: amountOf(amount, dim, "AMOUNT") });
	answer(io, document, () => {
		if ("budget" in document) io.print.say(budgetWords(document.budget));
	});
	return undefined;
}

async function costs(call: Call, io: Io): Promise<undefined> {
	const document = await io.ask("budget.report", {
		per: call.choice("per", COST_GROUPS),
		batch: call.text("batch"),
		owner: call.text("owner"),
		repo: call.text("repo"),
	});
	answer(io, document, () => {
		if (!("costs" in document)) return;
		const { costs: rows, per } = document;
		if (rows.length === 0) return io.print.say("nothing has run yet");
		const columns = [
			{ title: per.toUpperCase(), shrink: 10 },
			{ title: "JOBS", ...right },
			{ title: "RUNS", ...right },
			{ title: "TOKENS", ...right },
			{ title: "COST", ...right },
			{ title: "BESIDES", shrink: 10 },
		];
		const cells = rows.map(({ name, jobs, runs, tokens, usage: used }) => [
			name === null ? `(no ${per})` : printable(name),
			String(jobs),
			String(runs),
			used.tokens === undefined ? "" : String(tokens),
			used.cost_micro === undefined ? "" : dollars(used.cost_micro),
			Object.entries(used)
				.filter(([dim]) => dim !== "tokens" && dim !== "cost_micro")
				.map(([dim, amount]) => `${amount} ${printable(dim)}`)
				.join(", "),
		]);
		for (const line of table(columns, cells, io.print.width, (text) => io.print.paint("dim", text))) io.print.out(line);
	});
	return undefined;
}
