// The methods of the configuration, and the check-up.

import { withoutCredentials } from "../../core/repo-url.ts";
import { doc, type Handlers } from "../call.ts";
import type { Setting } from "../context.ts";

/** Addresses of repos may hold a password. */
const shownAll = (settings: Setting[]): Setting[] => settings.map((one) => ({ ...one, value: shown(one.value) }));
const shown = (value: unknown): unknown => {
	if (typeof value === "string") return withoutCredentials(value);
	if (Array.isArray(value)) return value.map(shown);
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shown(inner)]));
};

export const configMethods: Handlers<"config"> = {
	"config.get": async ({ key }, { context }) => doc({ settings: shownAll(context.config.get(key)) }),
	"config.set": async ({ key, value }, { context, by }) => doc({ settings: shownAll(await context.config.set(key, value, by)) }),
	"config.unset": async ({ key }, { context, by }) => doc({ settings: shownAll(await context.config.unset(key, by)) }),
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
