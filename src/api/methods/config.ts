// The methods of the configuration.

import { doc, type Handlers } from "../call.ts";
import type { Context, Setting } from "../context.ts";
import { maskedDeep } from "../secrets.ts";

/** The variables of a cron's job may be secrets, and addresses of repos may hold a password. */
export const shownSettings = (settings: Setting[], { config }: Pick<Context, "config">): Setting[] =>
	settings.map((one) => ({ ...one, value: maskedDeep(one.value, { names: config.settings().secrets }, one.key) }));

const NEXT_START = "counts from the next start: sluice down && sluice up --detach";

/** Notes on settings whose change does not take effect at once. */
function notesOf(settings: readonly Setting[], { endpoints }: Pick<Context, "endpoints">): string[] {
	return settings.flatMap(({ key, value }) => {
		if (key === "port") {
			const { port } = endpoints();
			if (value === port) return [];
			return [`port ${NEXT_START}; until then ${port === null ? "there is no HTTP" : `it stays ${port}`}`];
		}
		return key === "store" || key.startsWith("host.") ? [`${key} ${NEXT_START}`] : [];
	});
}

const changed = (settings: Setting[], context: Context) =>
	doc({ settings: shownSettings(settings, context), notes: notesOf(settings, context) });

export const configMethods: Handlers<"config"> = {
	"config.get": async ({ key }, { context }) => doc({ settings: shownSettings(context.config.get(key), context) }),
	"config.set": async ({ key, value }, { context, by }) => changed(await context.config.set(key, value, by), context),
	"config.unset": async ({ key }, { context, by }) => changed(await context.config.unset(key, by), context),
	"config.list": async (_params, { context }) => doc({ settings: shownSettings(context.config.list(), context) }),
	"config.check": async ({ text }, { context }) => {
		const problems = context.config.check(text);
		return doc({ ok: problems.length === 0, problems });
	},
};
