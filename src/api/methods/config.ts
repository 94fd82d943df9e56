// The methods of the configuration, and the check-up.

import { doc, type Handlers } from "../call.ts";

export const configMethods: Handlers<"config"> = {
	"config.get": async ({ key }, { context }) => doc({ settings: context.config.get(key) }),
	"config.set": async ({ key, value }, { context, by }) => doc({ settings: await context.config.set(key, value, by) }),
	"config.unset": async ({ key }, { context, by }) => doc({ settings: await context.config.unset(key, by) }),
	"config.list": async (_params, { context }) => doc({ settings: context.config.list() }),
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
