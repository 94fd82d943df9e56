// One attempt to deliver a body: signs it, sends it, and says what became of it.

import type { HttpAnswer, SendPost } from "../../contracts/webhook.ts";
import { messageOf } from "../../core/errors.ts";
import { type Reveal, revealed } from "../../core/input/env-reference.ts";
import type { WebhookSettings } from "../../core/schema/webhook.ts";
import { secretsIn, signatureOf } from "./signature.ts";

export type RequestParts = { post: SendPost; reveal: Reveal; now: () => number; version: string };
export type Attempt = { webhook: string; id: string; kind: string; attempt: number; body: string; signal?: AbortSignal };

export type AttemptResult =
	| { is: "delivered"; status: number; text: string }
	/** `status` null: there was no answer. */
	| { is: "failed"; how: "unreachable" | "refused"; status: number | null; error: string; text: string; pauseMs?: number };

type Keys = { secrets: string[]; headers: Record<string, string> };

/** The secrets and headers as they are now; or why they cannot be had, without any value. */
export function keysOf({ secret, headers }: WebhookSettings, reveal: Reveal): Keys | { problem: string } {
	const found = reveal(secret);
	if ("problem" in found) return { problem: `secret: ${found.problem}` };
	const some = secretsIn(found.value);
	if ("problem" in some) return { problem: `secret: what ${secret} holds ${some.problem}` };
	const more = revealed(headers, "headers", reveal);
	if ("problem" in more) return more;
	const bad = Object.entries(more.env).find(([, value]) => /[^\t\x20-\x7e]/.test(value));
	return bad ? { problem: `headers.${bad[0]}: has characters that a header cannot have` } : { ...some, headers: more.env };
}

const unsent = (error: string): AttemptResult => ({ is: "failed", how: "unreachable", status: null, error, text: "" });

export async function attemptDelivery(parts: RequestParts, settings: WebhookSettings, one: Attempt): Promise<AttemptResult> {
	const keys = keysOf(settings, parts.reveal);
	if ("problem" in keys) return unsent(keys.problem);
	const headers = {
		...keys.headers,
		"content-type": "application/json",
		"user-agent": `sluice/${parts.version}`,
		"sluice-webhook": one.webhook,
		"sluice-event": one.kind,
		"sluice-delivery": one.id,
		"sluice-attempt": String(one.attempt),
		"sluice-signature": signatureOf(keys.secrets, parts.now(), one.body),
	};
	const request = { url: settings.url, headers, body: one.body, timeoutMs: settings.timeout_ms, signal: one.signal };
	return parts.post(request).then(
		(answer) => judge(answer, parts.now()),
		(error) => unsent(messageOf(error)),
	);
}

/** The receiver is there and refuses this one event: sending others makes sense. Every other status says that it takes none at the moment. */
const REFUSALS = [400, 409, 413, 422];

function judge({ status, retryAfter, text }: HttpAnswer, now: number): AttemptResult {
	if (status >= 200 && status < 300) return { is: "delivered", status, text };
	const redirect = status >= 300 && status < 400 ? ", and redirects are not followed" : "";
	const pauseMs = pauseOf(retryAfter, now);
	return {
		is: "failed",
		how: REFUSALS.includes(status) ? "refused" : "unreachable",
		status,
		error: `it answered ${status}${redirect}`,
		text,
		...(pauseMs === undefined ? {} : { pauseMs }),
	};
}

/** `Retry-After`: seconds, or a date. */
function pauseOf(value: string | undefined, now: number): number | undefined {
	if (value === undefined) return undefined;
	const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
	return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}
