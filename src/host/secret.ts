// Chance that nobody can guess: tokens and tags.

import { randomBytes } from "node:crypto";

/** Drawn in one go: each draw costs as much as many bytes do, and every run needs some. */
const STOCK = 4096;
let stock = Buffer.alloc(0);

/** `bytes` random bytes as text that is safe in headers, paths and branch names. */
export function secret(bytes: number): string {
	if (stock.length < bytes) stock = randomBytes(Math.max(STOCK, bytes));
	const text = stock.toString("base64url", 0, bytes);
	// What was given away is in nobody's memory but its owner's.
	stock.fill(0, 0, bytes);
	stock = stock.subarray(bytes);
	return text;
}

/** Six lower-case letters and digits: tells homes apart. */
export const tag = (): string => Array.from(randomBytes(6), (byte) => "abcdefghijkmnpqrstuvwxyz23456789"[byte % 32]).join("");
