// Methods of triggers: by time, and by files that change.

import type { FireResult } from "../../contracts/scheduler.ts";
import type { JobInput } from "../../core/job.ts";
import { CATCH_UPS } from "../../core/time/slots.ts";
import type { TriggerInfo } from "../context.ts";
import type { Doc, Timed } from "../documents.ts";
import { adminMethod, choice, maybe, object, operatorMethod, text, viewerMethod, word } from "../fields.ts";

export type TriggerDocument = Timed<TriggerInfo, "since" | "slot" | "fired_at" | "next_at">;
type OneTrigger = Doc<{ trigger: TriggerDocument }>;

const name = word("its name, with or without `cron:` or `watch:`");
const ROW = "{name, kind, schedule, timezone, catch_up, paths, next_at, slot, since, fired_at, job, skipped, error, add}";

export const CRON_METHODS = {
	"cron.list": viewerMethod<Doc<{ triggers: TriggerDocument[] }>>()({
		about: "Triggers by time and by files: when each comes next, when it came last, which job it added.",
		params: {},
		result: `{triggers: [${ROW}]}`,
	}),
	"cron.show": viewerMethod<OneTrigger>()({ about: "One trigger.", params: { name }, result: "{trigger}" }),
	"cron.add": adminMethod<OneTrigger & { warning?: string }>()({
		about: "A job that is added by time from now on; kept in the configuration file.",
		params: {
			name: word("its name"),
			schedule: text("a cron expression: five fields, six with seconds first, or `@daily` and the like", 200),
			timezone: maybe(word("IANA name; the setting `timezone` when absent")),
			catch_up: maybe(choice("what becomes of slots that were missed (skip)", CATCH_UPS)),
			job: object<JobInput>("what is added: every field of a job's input but `name` and `trigger`"),
		},
		result: "{trigger, warning?}",
	}),
	"cron.remove": adminMethod<Doc<{ removed: string }>>()({
		about: "Takes a trigger out of the configuration; jobs that it has added stay.",
		params: { name },
		result: "{removed}",
	}),
	"cron.run": operatorMethod<Doc<FireResult>>()({
		about: "Adds a trigger's job now, unless one that it added is still open.",
		params: { name },
		result: "{outcome: added | open, job}",
	}),
} as const;
