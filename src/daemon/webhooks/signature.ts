// Signs the body of a webhook's request, so that its receiver knows who sent it and when: docs/webhooks.md says how to verify it.

import { createHmac } from "node:crypto";

/** A shorter secret could be guessed from one signed request. */
const SHORTEST = 16;

/** The secrets of a text: one a line, the newest first by convention. Or why there is none that may be used. */
export function secretsIn(text: string): { secrets: string[] } | { problem: string } {
	const secrets = text.split(/\r?\n/).filter((line) => line.trim() !== "");
	if (secrets.length === 0) return { problem: "is empty" };
	if (secrets.some((one) => one.length < SHORTEST)) return { problem: `is shorter than ${SHORTEST} characters` };
	return { secrets: secrets.slice(0, 5) };
}

/** `t=1767268800,v1=<hex>`: HMAC-SHA256 of `<t>.<body>` by each secret, with the time in seconds. */
export function signatureOf(secrets: readonly string[], now: number, body: string): string {
	const t = Math.floor(now / 1000);
	const signed = secrets.map((secret) => `v1=${createHmac("sha256", secret).update(`${t}.${body}`, "utf8").digest("hex")}`);
	return [`t=${t}`, ...signed].join(",");
}
