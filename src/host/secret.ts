// Chance that nobody can guess: tokens and tags.

import { randomBytes } from "node:crypto";

/** `bytes` random bytes as text that is safe in headers, paths and branch names. */
export const secret = (bytes: number): string => randomBytes(bytes).toString("base64url");

/** Six lower-case letters and digits: tells homes apart. */
export const tag = (): string => Array.from(randomBytes(6), (byte) => "abcdefghijkmnpqrstuvwxyz23456789"[byte % 32]).join("");
