// A method's parameters as JSON Schema, for callers such as agents that are shown what they may send.

import { type ObjectSchema, objectSchema, propertiesOf } from "../core/schema/field.ts";
import { JOB } from "../core/schema/job.ts";
import type { Method } from "./fields.ts";

/** A method that takes a job's input also takes each of its fields, all of them optional. */
export function inputSchema({ params, check }: Method): ObjectSchema {
	const fields = objectSchema(params);
	return check === "job" ? { ...fields, properties: { ...propertiesOf(JOB), ...fields.properties } } : fields;
}
