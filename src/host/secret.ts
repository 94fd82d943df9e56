// Unguessable random texts: tokens and tags.

import { randomBytes } from "node:crypto";

/** Bytes drawn in advance: one call for many bytes costs as much as one for a few, and every run needs some. */
const STOCK = 4096;
let stock = Buffer.alloc(0);

/** `bytes` random bytes as text that is safe in headers, paths and branch names. */
export function secret(bytes: number): string {
	if (stock.length < bytes) stock = randomBytes(Math.max(STOCK, bytes));
	const text = stock.toString("base64url", 0, bytes);
	// Overwrite the bytes, so that a secret that was handed out cannot be found in this buffer.
	stock.fill(0, 0, bytes);
	stock = stock.subarray(bytes);
	return text;
}

/** Six lower-case letters and digits that tell homes apart. */
export const tag = (): string => Array.from(randomBytes(6), (byte) => "abcdefghijkmnpqrstuvwxyz23456789"[byte % 32]).join("");
