// Methods of triggers. Triggers are configuration: adding and removing changes that, and the daemon follows.

import { SluiceError } from "../../core/errors.ts";
import { given } from "../../core/given.ts";
import { doc, type Handlers } from "../call.ts";
import type { Context, TriggerInfo } from "../context.ts";
import { maybeTime, rfc3339 } from "../documents.ts";
import { noSuch } from "../known.ts";
import type { TriggerDocument } from "../protocol/cron.ts";
import { maskedDeep } from "../secrets.ts";

function triggerDocument(info: TriggerInfo, context: Context): TriggerDocument {
	const { since, slot, fired_at, next_at, add, ...rest } = info;
	const shown = maskedDeep(add, { names: context.config.settings().secrets }) as TriggerInfo["add"];
	return { ...rest, since: rfc3339(since), slot: maybeTime(slot), fired_at: maybeTime(fired_at), next_at: maybeTime(next_at), add: shown };
}

async function find(context: Context, name: string): Promise<TriggerInfo> {
	const all = await context.triggers.list();
	const found = [name, `cron:${name}`, `watch:${name}`].flatMap((one) => all.find((info) => info.name === one) ?? [])[0];
	if (found) return found;
	const names = all.flatMap((info) => [info.name, info.name.slice(info.name.indexOf(":") + 1)]);
	throw noSuch("trigger", name, names, "cron list shows those that there are");
}

export const cronMethods: Handlers<"cron"> = {
	"cron.list": async (_params, { context }) =>
		doc({ triggers: (await context.triggers.list()).map((info) => triggerDocument(info, context)) }),
	"cron.show": async ({ name }, { context }) => doc({ trigger: triggerDocument(await find(context, name), context) }),
	"cron.add": async ({ name, schedule, timezone, catch_up, job }, { context, by }) => {
		const short = name.replace(/^cron:/, "");
		if ((await context.triggers.list()).some((info) => info.name === `cron:${short}`))
			throw new SluiceError("conflict", `name: there is a trigger "${short}" already`, {
				field: "name",
				hint: `cron remove ${short} first`,
			});
		// Checks the job as if it were added now: its lane, repo and so on must exist.
		await context.scheduler.apply({ jobs: [job] }, { by, check: true });
		await context.config.set(`cron.${short}`, { schedule, ...given({ timezone, catch_up }), add: job }, by);
		const warning = context.agents.startProblem(job) ?? undefined;
		return doc({ trigger: triggerDocument(await find(context, `cron:${short}`), context), ...given({ warning }) });
	},
	"cron.remove": async ({ name }, { context, by }) => {
		const { name: full, kind } = await find(context, name);
		await context.config.unset(`${kind === "cron" ? "cron" : "watches"}.${full.slice(full.indexOf(":") + 1)}`, by);
		return doc({ removed: full });
	},
	"cron.run": async ({ name }, { context, by }) => doc(await context.triggers.run(name, by)),
};
