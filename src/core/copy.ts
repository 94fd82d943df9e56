// Copies of plain data, so that a caller who changes what it was given changes nothing of ours.

export function copy<T>(value: T): T {
	if (value === null || typeof value !== "object") return value;
	if (Array.isArray(value)) return value.map(copy) as T;
	const result: Record<string, unknown> = {};
	for (const key in value) {
		const one = value[key] as unknown;
		if (one === undefined) continue;
		result[key] = typeof one === "object" ? copy(one) : one;
	}
	return result as T;
}
