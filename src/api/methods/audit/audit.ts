// The method of the record of calls.

import { doc, type Handlers } from "../../call.ts";
import { rfc3339 } from "../../documents.ts";

export const auditMethods: Handlers<"audit"> = {
	"audit.list": async ({ limit = 100, caller, method, since, workers }, { context }) => {
		const filter = {
			limit,
			by: caller,
			method,
			since: since as number | undefined,
			workers: workers ? ("with" as const) : ("without" as const),
		};
		const { entries, missing } = await context.audit.read(filter);
		return doc({ entries: entries.map(({ kind: _, at, ...entry }) => ({ at: rfc3339(at), ...entry })), missing_hosts: missing });
	},
};
