// The method of `sluice doctor`.

import { doc, type Handlers } from "../call.ts";

export const doctorMethods: Handlers<"doctor"> = {
	"doctor.run": async (_params, { context }) => {
		const checks = await context.doctor();
		return doc({ ok: checks.every(({ ok }) => ok), checks });
	},
};
