// The methods of the configuration, and the check-up.

import { doc, type Handlers } from "../call.ts";
import type { Context, Setting } from "../context.ts";
import { maskedDeep } from "../secrets.ts";

/** Secrets stand in the configuration where a cron's job has variables; addresses of repos may hold a password. */
const shownAll = (settings: Setting[], { config }: Pick<Context, "config">): Setting[] =>
	settings.map((one) => ({ ...one, value: maskedDeep(one.value, { names: config.settings().secrets }, one.key) }));

const NEXT_START = "counts from the next start: sluice down && sluice up --detach";

/** What a change of this setting does not do at once. */
function notesOf(settings: readonly Setting[], { doors }: Pick<Context, "doors">): string[] {
	return settings.flatMap(({ key, value }) => {
		if (key === "port") {
			const { port } = doors();
			if (value === port) return [];
			return [`port ${NEXT_START}; until then ${port === null ? "there is no HTTP" : `it stays ${port}`}`];
		}
		return key === "store" || key.startsWith("host.") ? [`${key} ${NEXT_START}`] : [];
	});
}

const changed = (settings: Setting[], context: Context) =>
	doc({ settings: shownAll(settings, context), notes: notesOf(settings, context) });

export const configMethods: Handlers<"config"> = {
	"config.get": async ({ key }, { context }) => doc({ settings: shownAll(context.config.get(key), context) }),
	"config.set": async ({ key, value }, { context, by }) => changed(await context.config.set(key, value, by), context),
	"config.unset": async ({ key }, { context, by }) => changed(await context.config.unset(key, by), context),
	"config.list": async (_params, { context }) => doc({ settings: shownAll(context.config.list(), context) }),
	"config.check": async ({ text }, { context }) => {
		const problems = context.config.check(text);
		return doc({ ok: problems.length === 0, problems });
	},
};

export const doctorMethods: Handlers<"doctor"> = {
	"doctor.run": async (_params, { context }) => {
		const checks = await context.doctor();
		return doc({ ok: checks.every(({ ok }) => ok), checks });
	},
};
