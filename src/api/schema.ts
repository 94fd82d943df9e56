// A method's parameters as JSON Schema, made from its fields, for callers such as agents that are shown what they may send.

import { JOB_FIELDS } from "../core/input/manifest-schema.ts";
import type { Field, Method } from "./fields.ts";

export type Schema = { [key: string]: unknown };
export type ObjectSchema = { type: "object"; properties: Record<string, Schema>; required?: string[]; additionalProperties: false };

const REF: Schema = { type: ["integer", "string"] };

/** Leaves out bounds that only mean "a safe integer". */
const bound = (name: "minimum" | "maximum", value: number | undefined): Schema =>
	value === undefined || Math.abs(value) >= Number.MAX_SAFE_INTEGER ? {} : { [name]: value };

function shapeOf({ kind, options = [], min, max }: Field): Schema {
	switch (kind) {
		case "id":
			return REF;
		case "ids":
			return { type: "array", items: REF, minItems: 1 };
		case "word":
			return { type: "string" };
		case "text":
			return { type: "string", ...(max === undefined ? {} : { maxLength: max }) };
		case "words":
			return { type: "array", items: { type: "string" } };
		case "flag":
			return { type: "boolean" };
		case "whole":
			return { type: "integer", ...bound("minimum", min), ...bound("maximum", max) };
		case "number":
			return { type: "number", ...bound("minimum", min), ...bound("maximum", max) };
		case "time":
		case "duration":
			return { type: ["integer", "string"] };
		case "choice":
			return { type: "string", enum: [...options] };
		case "choices":
			return { type: "array", items: { type: "string", enum: [...options] } };
		case "json":
			return {};
		case "object":
			return { type: "object" };
	}
}

const HOW: Partial<Record<Field["kind"], string>> = {
	time: " Epoch milliseconds, or RFC 3339.",
	duration: ' Milliseconds, or "30s", "5m".',
};

function fieldSchema(field: Field): Schema {
	const shape = shapeOf(field);
	const description = `${field.about}${HOW[field.kind] ? `.${HOW[field.kind]}` : ""}`;
	if (!field.nullable) return { ...shape, description };
	return { anyOf: [shape, { type: "null" }], description };
}

/** The parameters of a call. A method that takes a job's input also takes each of its fields. */
export function inputSchema({ params, check }: Method): ObjectSchema {
	const own = Object.entries(params).map(([name, field]) => [name, fieldSchema(field)] as const);
	const needed = Object.entries(params).flatMap(([name, field]) => (field.needed ? [name] : []));
	return {
		type: "object",
		properties: { ...(check === "job" ? JOB_FIELDS : {}), ...Object.fromEntries(own) },
		...(needed.length > 0 ? { required: needed } : {}),
		additionalProperties: false,
	};
}
