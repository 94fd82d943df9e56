// The method of `sluice doctor`.

import type { Checkup } from "../context.ts";
import type { Doc } from "../documents.ts";
import { operatorMethod } from "../fields.ts";

export const DOCTOR_METHODS = {
	"doctor.run": operatorMethod<Doc<{ ok: boolean; checks: Checkup[] }>>()({
		about: "Looks at everything the daemon needs, and says what to do about what is missing.",
		params: {},
		result: "{ok, checks: [{name, ok, optional?, detail, hint?}]}",
	}),
} as const;
