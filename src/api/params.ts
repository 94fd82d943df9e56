// Checks a call's parameters against the fields of its method, and normalises them: times and durations in milliseconds.

import { SluiceError } from "../core/errors.ts";
import * as check from "../core/input/check.ts";
import type { Field, Method } from "./fields.ts";

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
		} else own[name] = value === null ? null : readField(field, value, name);
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

const MAX_LIST = 1000;
const MAX_KEYS = 10_000;

/** Before the keys are checked one by one. */
function boundedRecord(value: unknown, name: string): RawParams {
	const record = check.record(value, name);
	const keys = Object.keys(record).length;
	if (keys > MAX_KEYS) throw new SluiceError("limit", `${name}: ${keys} keys, at most ${MAX_KEYS}`, { field: name });
	return record;
}

function readField(field: Field, value: unknown, name: string): unknown {
	const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER, options = [] } = field;
	switch (field.kind) {
		case "id":
			return ref(value, name);
		case "ids": {
			const all = check.list(value, name, MAX_LIST).map((one, index) => ref(one, `${name}[${index}]`));
			if (all.length === 0) throw check.wrong(name, "is empty", "name at least one job");
			return all;
		}
		case "word":
			return check.word(value, name);
		case "words":
			return check.list(value, name, MAX_LIST).map((one, index) => check.word(one, `${name}[${index}]`));
		case "text":
			return check.text(value, name, { max });
		case "flag":
			return check.flag(value, name);
		case "whole":
			return check.integer(value, name, min, max);
		case "number":
			return check.number(value, name, min, max);
		case "time":
			return check.instant(value, name);
		case "duration":
			return check.duration(value, name);
		case "choice":
			return check.oneOf(value, options, name);
		case "choices":
			return check.list(value, name, MAX_LIST).map((one, index) => check.oneOf(one, options, `${name}[${index}]`));
		case "json":
			return check.json(value, name);
		case "object":
			return boundedRecord(value, name);
	}
}

/** A job's number, also as text, or its name. */
function ref(value: unknown, name: string): number | string {
	if (typeof value === "number") return check.integer(value, name, 1);
	if (typeof value !== "string") throw check.wrong(name, `must be a job's number or name, not ${check.shown(value)}`);
	if (/^[1-9]\d{0,14}$/.test(value)) return Number(value);
	return check.label(value, name);
}
