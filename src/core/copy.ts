// Copies of plain data, so that a caller who changes what it was given changes nothing of ours.

import { JsonText } from "./json-text.ts";

export function copy<T>(value: T): T {
	if (value === null || typeof value !== "object") return value;
	// It cannot be changed.
	if (value instanceof JsonText) return value;
	if (Array.isArray(value)) return value.map(copy) as T;
	const result: Record<string, unknown> = {};
	for (const key in value) {
		const one = value[key] as unknown;
		if (one === undefined) continue;
		const own = typeof one === "object" ? copy(one) : one;
		// Set like any other key it would become the prototype.
		if (key === "__proto__") Object.defineProperty(result, key, { value: own, enumerable: true, configurable: true, writable: true });
		else result[key] = own;
	}
	return result as T;
}
