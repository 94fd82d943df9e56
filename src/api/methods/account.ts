// The methods of accounts: which are open, limited or closed.

import { SluiceError } from "../../core/errors.ts";
import { nearest } from "../../core/nearest.ts";
import { type At, doc, type Handlers } from "../call.ts";
import { statusDocument } from "../documents.ts";
import type { AccountDocument } from "../protocol/nouns.ts";

/** The strongest hold is shown: a closed account is closed, whatever else holds it. */
const STATES = [
	["account_closed", "closed"],
	["rate_limited", "rate_limited"],
	["paused", "paused"],
] as const;

async function accounts({ context }: At): Promise<AccountDocument[]> {
	const config = context.scheduler.config();
	const { holds } = statusDocument(await context.scheduler.status());
	const held = holds.flatMap(({ scope }) => (scope.startsWith("account:") ? [scope.slice("account:".length)] : []));
	return [...new Set([...Object.keys(config.accounts), ...held])].map((name) => {
		const mine = holds.filter(({ scope }) => scope === `account:${name}`);
		const [kind, state] = STATES.find(([kind]) => mine.some((hold) => hold.kind === kind)) ?? [undefined, "open" as const];
		const hold = mine.find((one) => one.kind === kind);
		const { max, max_api_calls } = (Object.hasOwn(config.accounts, name) ? config.accounts[name] : undefined) ?? {
			max: null,
			max_api_calls: 0,
		};
		return {
			name,
			max,
			max_api_calls,
			state,
			since: hold?.since ?? null,
			until: hold?.until ?? null,
			by: hold?.by ?? null,
			reason: hold?.reason ?? null,
		};
	});
}

/** The account as it is now; `default` is there without being named anywhere. */
async function account(name: string, at: At): Promise<AccountDocument> {
	const found = (await accounts(at)).find((one) => one.name === name);
	const open = { name, max: null, max_api_calls: 0, state: "open" as const, since: null, until: null, by: null, reason: null };
	return found ?? open;
}

async function mustKnow(name: string, at: At): Promise<void> {
	const names = ["default", ...(await accounts(at)).map((one) => one.name)];
	if (names.includes(name)) return;
	const guess = nearest(name, names);
	throw new SluiceError("not_found", `name: there is no account "${name}"`, {
		field: "name",
		hint: guess ? `did you mean "${guess}"?` : `known: ${names.join(", ")}`,
	});
}

export const accountMethods: Handlers<"account"> = {
	"account.list": async (_params, at) => doc({ accounts: await accounts(at) }),
	"account.clear": async ({ name }, at) => {
		await mustKnow(name, at);
		await at.context.scheduler.clearAccount(name, { by: at.by });
		return doc({ account: await account(name, at) });
	},
	"account.limit": async ({ name, until, retry_after_ms, closed }, at) => {
		await mustKnow(name, at);
		const report = {
			...(until === undefined ? {} : { until: until as number }),
			...(retry_after_ms === undefined ? {} : { retry_after_ms: retry_after_ms as number }),
			...(closed === undefined ? {} : { closed }),
		};
		await at.context.scheduler.limit(name, report, { by: at.by });
		return doc({ account: await account(name, at) });
	},
};
