// Methods of accounts: which are open, limited or closed, and why; slots for API calls.

import type { AccountView } from "../../contracts/scheduler.ts";
import { given } from "../../core/given.ts";
import { type At, doc, type Handlers } from "../call.ts";
import { maybeTime, reasonDocument } from "../documents.ts";
import { noSuch } from "../known.ts";
import type { AccountDocument } from "../protocol/account.ts";

const documentOf = (view: AccountView): AccountDocument => ({
	...view,
	since: maybeTime(view.since),
	until: maybeTime(view.until),
	next_at: maybeTime(view.next_at),
	reasons: view.reasons.map(reasonDocument),
});

const accounts = async ({ context }: At): Promise<AccountDocument[]> => (await context.scheduler.accounts()).map(documentOf);

/** `default` exists without being configured. */
const OPEN: Omit<AccountDocument, "name"> = {
	max: null,
	max_api_calls: 10,
	running: 0,
	calls: 0,
	lanes: [],
	state: "open",
	since: null,
	until: null,
	next_at: null,
	hits: 0,
	reset: false,
	by: null,
	reason: null,
	reasons: [],
};

/** The account's current state. */
async function account(name: string, at: At): Promise<AccountDocument> {
	const all = await accounts(at);
	const found = all.find((one) => one.name === name);
	if (found) return found;
	const names = ["default", ...at.context.scheduler.config().agents, ...all.map((one) => one.name)];
	if (names.includes(name)) return { name, ...OPEN };
	throw noSuch("account", name, names, `known: ${names.join(", ")}`);
}

/** A run can only act in its own name. */
function holderOf(holder: string | undefined, { session, by }: At): string {
	const { job } = session.caller;
	return job === undefined ? (holder ?? by) : `job:${job}`;
}

export const accountMethods: Handlers<"account"> = {
	"account.list": async (_params, at) => doc({ accounts: await accounts(at) }),
	"account.show": async ({ name }, at) => doc({ account: await account(name, at) }),
	"account.clear": async ({ name }, at) => {
		await account(name, at);
		await at.context.scheduler.clearAccount(name, { by: at.by });
		return doc({ account: { ...OPEN, name, ...(await accounts(at)).find((one) => one.name === name) } });
	},
	"account.limit": async ({ name, until, retry_after_ms, closed }, at) => {
		await account(name, at);
		const report = given({ until: until as number | undefined, retry_after_ms: retry_after_ms as number | undefined, closed });
		await at.context.scheduler.limit(name, report, { by: at.by });
		return doc({ account: await account(name, at) });
	},
	"account.acquire": async ({ name, holder }, at) => doc(await at.context.scheduler.acquireCall(name, holderOf(holder, at))),
	"account.release": async ({ name, holder }, at) => doc(await at.context.scheduler.releaseCall(name, holderOf(holder, at))),
};
