// A budget as callers set it, one row a field. The library's method and the parameters of RPC come from it.

import * as check from "../input/check.ts";
import { choice, decimal, field, label, maybe, orNull, whole } from "./field.ts";

/** What a budget is of. */
export const SUBJECT = field(
	"word",
	"`owner:<name>`, `batch:<name>` or `repo:<name>`",
	(value, at) => {
		const subject = check.word(value, at);
		if (!/^(owner|batch|repo):(.+)$/.test(subject))
			throw check.wrong(at, `${check.shown(subject)} is no ledger's subject`, "owner:<name>, batch:<name> or repo:<name>");
		return subject;
	},
	{ type: "string" },
);
export const DIMENSION = label("`runs`, `wall_s`, `tokens`, `cost_micro` or any other");

export const GRANT = {
	limit: orNull(whole("in whole units; null = none", 0, Number.MAX_SAFE_INTEGER)),
	window: maybe(orNull(choice("begins anew each", ["hour", "day"]))),
	warn_at: maybe(decimal("share of the limit at which to warn (0.8)", 0, 1)),
	on_breach: maybe(choice("what becomes of runs in flight (finish)", ["finish", "stop"])),
	reserve: maybe(whole("what each run sets aside while it runs (1 of `runs`, else 0)", 0, Number.MAX_SAFE_INTEGER)),
};
