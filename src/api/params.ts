// Checks a call's parameters against the fields of its method, and normalises them: times and durations in milliseconds.

import { SluiceError } from "../core/errors.ts";
import * as check from "../core/input/check.ts";
import { boundedRecord } from "../core/schema/field.ts";
import type { Method } from "./fields.ts";

export type RawParams = Record<string, unknown>;

export function readParams(method: Method, given: unknown): RawParams {
	const params = given === undefined ? {} : boundedRecord(given, "params");
	if (method.check === "kernel") return kernelParams(method, params);
	const fields = Object.entries(method.params);
	if (method.check === "strict") check.knownKeys(params, [...Object.keys(method.params), "by"], "");
	const own: RawParams = method.check === "strict" ? {} : { ...params };
	for (const [name, field] of fields) {
		const value = params[name];
		if (value === undefined || (value === null && !field.nullable)) {
			if (field.needed) throw new SluiceError("invalid", `${name}: is missing`, { field: name, hint: field.about });
			delete own[name];
		} else own[name] = field.read(value, name);
	}
	delete own.by;
	return own;
}

/**
 * The scheduler checks these itself, because its refusals have the contract's numbers. Only the rule for all methods is applied here: an optional parameter
 * may be null.
 */
function kernelParams(method: Method, { by: _by, ...own }: RawParams): RawParams {
	for (const [name, field] of Object.entries(method.params)) if (own[name] === null && !field.needed && !field.nullable) delete own[name];
	return own;
}

/** The name that a caller on the socket gives for the record. */
export const readBy = (given: unknown): string | undefined => {
	const by = given !== null && typeof given === "object" ? (given as RawParams).by : undefined;
	return by === undefined || by === null ? undefined : check.word(by, "by");
};
