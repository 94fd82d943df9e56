// The methods of the configuration, and the check-up.

import { withoutCredentials } from "../../core/repo-url.ts";
import { doc, type Handlers } from "../call.ts";
import type { Context, Setting } from "../context.ts";

/** Addresses of repos may hold a password. */
const shownAll = (settings: Setting[]): Setting[] => settings.map((one) => ({ ...one, value: shown(one.value) }));
const shown = (value: unknown): unknown => {
	if (typeof value === "string") return withoutCredentials(value);
	if (Array.isArray(value)) return value.map(shown);
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shown(inner)]));
};

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

const changed = (settings: Setting[], context: Context) => doc({ settings: shownAll(settings), notes: notesOf(settings, context) });

export const configMethods: Handlers<"config"> = {
	"config.get": async ({ key }, { context }) => doc({ settings: shownAll(context.config.get(key)) }),
	"config.set": async ({ key, value }, { context, by }) => changed(await context.config.set(key, value, by), context),
	"config.unset": async ({ key }, { context, by }) => changed(await context.config.unset(key, by), context),
	"config.list": async (_params, { context }) => doc({ settings: shownAll(context.config.list()) }),
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
