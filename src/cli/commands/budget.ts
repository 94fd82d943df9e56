// sluice budget report: the cost of jobs in groups; with three arguments, a charge.

import type { CostDocument } from "../../api/protocol/budget.ts";
import type { Call } from "../command.ts";
import { usage } from "../failure.ts";
import { type AnswerDocument, answer, type Io } from "../io.ts";
import { printable } from "../printing/sequences.ts";
import { table } from "../printing/table.ts";
import { amountOf, budgetWords, dollars, type LedgerRow } from "./noun-set.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
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
	answer(io, document, () => io.print.say(budgetWords(document.budget as LedgerRow)));
	return undefined;
}

async function costs(call: Call, io: Io): Promise<undefined> {
	const params: AnswerDocument = {};
	for (const option of ["per", "batch", "owner", "repo"]) if (call.has(option)) params[option] = call.text(option);
	const document = await io.ask("budget.report", params);
	answer(io, document, () => {
		const rows = document.costs as CostDocument[];
		if (rows.length === 0) return io.print.say("nothing has run yet");
		const per = String(document.per);
		const right = { align: "right" } as const;
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
