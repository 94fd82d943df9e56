// Copies plain data, so that a caller who changes a returned value changes nothing of ours.

import { JsonText } from "./json-text.ts";

export function copy<T>(value: T): T {
	if (value === null || typeof value !== "object") return value;
	// JsonText is immutable.
	if (value instanceof JsonText) return value;
	if (Array.isArray(value)) return value.map(copy) as T;
	const result: Record<string, unknown> = {};
	for (const key in value) {
		const one = value[key] as unknown;
		if (one === undefined) continue;
		const own = typeof one === "object" ? copy(one) : one;
		// A plain assignment to this key would set the prototype.
		if (key === "__proto__") Object.defineProperty(result, key, { value: own, enumerable: true, configurable: true, writable: true });
		else result[key] = own;
	}
	return result as T;
}
