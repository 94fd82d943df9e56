// The JSON Schema of manifests, made from the table of a job's fields: for editors, and for `sluice apply --schema`.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are what manifests write

import { type JsonSchema, label, propertiesOf, schemaOf } from "../schema/field.ts";
import { JOB } from "../schema/job.ts";

const FOR_EACH: JsonSchema = {
	type: ["array", "object"],
	minItems: 1,
	description:
		"Several jobs of one: a list (${item}, or the keys of each entry), a map (${key} with ${value} or the keys of each entry), or a map of lists (every combination).",
};

/** `${n}` may stand where a number is wanted. */
function orText(schema: JsonSchema): JsonSchema {
	const parts = Object.entries(schema).map(([key, one]): [string, unknown] => {
		if (key === "type" && one === "integer") return [key, ["integer", "string"]];
		if (Array.isArray(one)) return [key, one.map((part) => (isSchema(part) ? orText(part) : part))];
		return [key, isSchema(one) ? orText(one) : one];
	});
	return Object.fromEntries(parts);
}
const isSchema = (value: unknown): value is JsonSchema => typeof value === "object" && value !== null && !Array.isArray(value);

const object = (properties: Record<string, JsonSchema>): JsonSchema => ({ type: "object", properties, additionalProperties: false });

function manifestSchema(): JsonSchema {
	const fields = orText(propertiesOf(JOB)) as Record<string, JsonSchema>;
	return {
		$schema: "https://json-schema.org/draft/2020-12/schema",
		title: "Sluice manifest",
		description: "Jobs that may refer to each other, added all or none by `sluice apply`.",
		...object({
			batch: schemaOf(label("The batch of all of them.")),
			defaults: { ...object(fields), description: "What each job takes over unless it says otherwise." },
			jobs: {
				description: "A list, or a map by name.",
				anyOf: [
					{ type: "array", items: { $ref: "#/$defs/job" } },
					{ type: "object", additionalProperties: { $ref: "#/$defs/job" } },
				],
			},
		}),
		required: ["jobs"],
		$defs: { job: object({ for_each: FOR_EACH, ...fields }) },
	};
}

export const manifestSchemaText = (): string => `${JSON.stringify(manifestSchema(), null, "\t")}\n`;
