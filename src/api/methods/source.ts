// The methods of sources of items.

import { doc, type Handlers } from "../call.ts";

export const sourceMethods: Handlers<"source"> = {
	"source.list": async (_params, { context }) => doc({ sources: await context.intake.sources() }),
	"source.show": async ({ name, all }, { context }) => {
		const { source, items } = await context.intake.source(name);
		return doc({ source, items: all ? items : items.filter(({ open }) => open) });
	},
	"source.scan": async ({ name }, { context }) => doc(await context.intake.scan(name)),
};
