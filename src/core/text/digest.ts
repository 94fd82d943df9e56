// A short digest of plain data: equal data have equal digests, whatever the order of their keys. Not a cryptographic hash: an attacker can find collisions.

export function digest(value: unknown): string {
	const text = canonical(value);
	let [a, b] = [0xdeadbeef, 0x41c6ce57];
	for (let at = 0; at < text.length; at++) {
		const code = text.charCodeAt(at);
		a = Math.imul(a ^ code, 2654435761);
		b = Math.imul(b ^ code, 1597334677);
	}
	a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
	b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
	return [b, a].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
}

/** JSON with sorted keys; undefined values are left out. */
function canonical(value: unknown): string {
	if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
	if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
	const entries = Object.entries(value)
		.filter(([, one]) => one !== undefined)
		.sort(([a], [b]) => (a < b ? -1 : 1));
	return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`).join(",")}}`;
}
