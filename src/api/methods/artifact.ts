// The methods of artifacts.

import { doc, type Handler, type Handlers } from "../call.ts";
import { rfc3339 } from "../documents.ts";

const setMarker: Handler<"artifact.set"> & Handler<"artifact.mark"> = async ({ artifact, absent }, { context, by }) => {
	await context.scheduler.mark(artifact, { by, absent: absent === true });
	return doc({ artifact, present: absent !== true });
};

export const artifactMethods: Handlers<"artifact"> = {
	"artifact.list": async (_params, { context }) =>
		doc({ artifacts: (await context.scheduler.artifacts()).map((one) => ({ ...one, observed_at: rfc3339(one.observed_at) })) }),
	"artifact.set": setMarker,
	"artifact.mark": setMarker,
};
