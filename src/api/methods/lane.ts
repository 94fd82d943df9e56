// The methods of lanes.

import { type Config, laneOf } from "../../core/config.ts";
import { SluiceError } from "../../core/errors.ts";
import { type At, doc, type Handlers } from "../call.ts";
import { noSuch } from "../known.ts";
import type { LaneDocument } from "../protocol/lane.ts";

export const laneMethods: Handlers<"lane"> = {
	"lane.list": async (_params, { context }) => {
		const config = context.scheduler.config();
		const { lanes } = await context.scheduler.status();
		return doc({ lanes: Object.entries(lanes).map(([name, counts]) => laneDocument(name, counts, config)) });
	},
	"lane.set": async ({ name, by: _by, ...changes }, at) => {
		const { context, by } = at;
		for (const [key, value] of Object.entries(changes)) await context.config.set(`lanes.${name}.${key}`, value, by);
		// A lane without any setting is created with its defaults.
		if (Object.keys(changes).length === 0) await context.config.set(`lanes.${name}`, {}, by);
		return doc({ lane: await lane(name, at) });
	},
	"lane.remove": async ({ name }, { context, by }) => {
		const { lanes } = context.scheduler.config();
		if (!Object.hasOwn(lanes, name)) throw noSuch("lane", name, Object.keys(lanes), "sluice lane list shows them");
		const open = await context.scheduler.list({ lane: name, limit: 5 });
		if (open.length > 0)
			throw new SluiceError("conflict", `jobs of lane ${name} have not ended: ${open.map(({ id }) => id).join(", ")}`, {
				field: "name",
				hint: "wait for them, or cancel them",
			});
		await context.config.unset(`lanes.${name}`, by);
		return doc({ removed: name });
	},
};

async function lane(name: string, { context }: At): Promise<LaneDocument> {
	const { lanes } = await context.scheduler.status();
	return laneDocument(name, lanes[name] ?? { queued: 0, running: 0, lending: 0 }, context.scheduler.config());
}

const laneDocument = (
	name: string,
	{ queued, running, lending }: Pick<LaneDocument, "queued" | "running" | "lending">,
	config: Config,
): LaneDocument => ({
	name,
	timezone: config.timezone,
	queued,
	running,
	lending,
	...laneOf(config, name),
});
