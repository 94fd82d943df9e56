// Commands that change lanes, accounts, budgets and artifacts.

import { usedWords } from "../../core/ledger.ts";
import type { Call } from "../command.ts";
import { usage } from "../failure.ts";
import { type AnswerDocument, answer, type Io } from "../io.ts";
import { durationOf, instantOf, localTime, timeOf } from "../times.ts";

type Change = { method: string; params(call: Call, io: Io): AnswerDocument; said(document: AnswerDocument, call: Call): string };

function whole(text: string, name: string): number {
	if (!/^-?\d{1,15}$/.test(text)) throw usage(`${name} must be a whole number, not ${JSON.stringify(text)}`);
	return Number(text);
}
/** Money is stored in micro-dollars; people write dollars. */
export function amountOf(text: string, dim: string, name: string): number {
	const [, sign = "", units, parts = ""] = /^(-?)\$(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
	if (units === undefined) return whole(text, name);
	if (dim !== "cost_micro") throw usage(`${name}: ${JSON.stringify(text)} is money, and ${dim} is not`, "dollars go with cost_micro");
	return (sign === "-" ? -1 : 1) * (Number(units) * 1_000_000 + Number(parts.padEnd(6, "0")));
}
export { dollars } from "../../core/ledger.ts";

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
	"lane remove": {
		method: "lane.remove",
		params: (call) => ({ name: call.arg("NAME") }),
		said: (_, call) => `lane ${call.arg("NAME")} is removed`,
	},
	"account limit": {
		method: "account.limit",
		params(call, io) {
			const now = io.world.now();
			return {
				name: call.arg("NAME"),
				...(call.has("until") ? { until: timeOf(call.text("until") as string, "until", now) } : {}),
				...(call.has("for") ? { retry_after_ms: durationOf(call.text("for") as string, "for") } : {}),
				...(call.has("closed") ? { closed: call.text("closed") } : {}),
			};
		},
		said({ account }) {
			const { name, state, until } = account as { name: string; state: string; until: string | null };
			const at = instantOf(until);
			return state === "closed"
				? `account ${name} is closed`
				: `account ${name} is limited${at === undefined ? "" : ` until ${localTime(at)}`}`;
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
				limit: call.arg("LIMIT") === "none" ? null : amountOf(call.arg("LIMIT"), call.arg("DIMENSION"), "LIMIT"),
				...(window === undefined ? {} : { window: window === "none" ? null : window }),
				...(warnAt === undefined ? {} : { warn_at: Number(warnAt) }),
				...(call.has("on-breach") ? { on_breach: call.text("on-breach") } : {}),
				...(call.has("reserve") ? { reserve: amountOf(call.text("reserve") as string, call.arg("DIMENSION"), "--reserve") } : {}),
			};
		},
		said: ({ budget }) => budgetWords(budget as LedgerRow),
	},
	"artifact set": marker("set"),
	"artifact mark": marker("mark"),
};

export type LedgerRow = { subject: string; dim: string; used: number; limit: number | null };
export const budgetWords = ({ subject, dim, used, limit }: LedgerRow): string => `${subject} has used ${usedWords(used, limit, dim)}`;

export async function run(call: Call, io: Io): Promise<undefined> {
	const change = CHANGES[call.command.name] as Change;
	const document = await io.ask(change.method, change.params(call, io));
	answer(io, document, () => io.print.say(change.said(document, call)));
	return undefined;
}
