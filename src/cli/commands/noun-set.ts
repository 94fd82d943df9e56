// What changes lanes, accounts, budgets and artifacts.

import type { Call } from "../command.ts";
import { usage } from "../failure.ts";
import { answer, type Document, type Io } from "../io.ts";

type Change = { method: string; params(call: Call): Document; said(document: Document, call: Call): string };

function whole(text: string, name: string): number {
	if (!/^-?\d{1,15}$/.test(text)) throw usage(`${name} must be a whole number, not ${JSON.stringify(text)}`);
	return Number(text);
}
const wholeOrNone = (text: string, name: string): number | null => (text === "none" ? null : whole(text, name));

const marker = (verb: string): Change => ({
	method: `artifact.${verb}`,
	params: (call) => ({ artifact: call.arg("ARTIFACT"), ...(call.flag("absent") ? { absent: true } : {}) }),
	said: (_, call) => `${call.arg("ARTIFACT")} is ${call.flag("absent") ? "not there" : "there"}`,
});

const CHANGES: Record<string, Change> = {
	"lane set": {
		method: "lane.set",
		params(call) {
			const max = call.text("max");
			const priority = call.number("priority");
			if (max === undefined && priority === undefined)
				throw usage("lane set needs --max or --priority", "for example: sluice lane set code --max 8");
			return {
				name: call.arg("NAME"),
				...(max === undefined ? {} : { max: wholeOrNone(max, "--max") }),
				...(priority === undefined ? {} : { priority }),
			};
		},
		said({ lane }) {
			const { name, max, priority } = lane as { name: string; max: number | null; priority: number };
			return `lane ${name}: ${max === null ? "no cap" : `${max} at most`}, base priority ${priority}`;
		},
	},
	"account clear": {
		method: "account.clear",
		params: (call) => ({ name: call.arg("NAME") }),
		said: (_, call) => `account ${call.arg("NAME")} is open`,
	},
	"budget grant": {
		method: "budget.grant",
		params(call) {
			const warnAt = call.text("warn-at");
			if (warnAt !== undefined && !/^(?:0?\.\d+|[01](?:\.0+)?)$/.test(warnAt))
				throw usage("--warn-at must be a share from 0 to 1", "for example 0.8");
			const window = call.text("window");
			return {
				subject: call.arg("SUBJECT"),
				dim: call.arg("DIMENSION"),
				limit: wholeOrNone(call.arg("LIMIT"), "LIMIT"),
				...(window === undefined ? {} : { window: window === "none" ? null : window }),
				...(warnAt === undefined ? {} : { warn_at: Number(warnAt) }),
				...(call.has("on-breach") ? { on_breach: call.text("on-breach") } : {}),
			};
		},
		said: ({ budget }) => budgetWords(budget as Ledger),
	},
	"budget report": {
		method: "budget.report",
		params: (call) => ({ subject: call.arg("SUBJECT"), dim: call.arg("DIMENSION"), amount: whole(call.arg("AMOUNT"), "AMOUNT") }),
		said: ({ budget }) => budgetWords(budget as Ledger),
	},
	"artifact set": marker("set"),
	"artifact mark": marker("mark"),
};

type Ledger = { subject: string; dim: string; used: number; limit: number | null };
const budgetWords = ({ subject, dim, used, limit }: Ledger) => `${subject} has used ${used} of ${limit ?? "unlimited"} ${dim}`;

export async function run(call: Call, io: Io): Promise<undefined> {
	const change = CHANGES[call.command.name] as Change;
	const document = await io.ask(change.method, change.params(call));
	answer(io, document, () => io.print.say(change.said(document, call)));
	return undefined;
}
