// The check-up of webhooks: each that is configured, and what to do about one that fails.

import type { Checkup } from "../../api/context.ts";
import type { WebhookView } from "../../contracts/webhook.ts";

const LOOPBACK = /^http:\/\/(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?::\d+)?$/;

export const webhookChecks = (views: readonly WebhookView[]): Checkup[] =>
	views.map((view) => ({ name: `webhook ${view.name}`, ...findingOf(view) }));

function findingOf({ name, to, enabled, problem, error, waiting, given_up, delivered }: WebhookView): Omit<Checkup, "name"> {
	if (!enabled) return { ok: true, optional: true, detail: "off" };
	if (problem !== null)
		return { ok: false, detail: problem, hint: `write a random text of at least 16 characters there; then: sluice webhook retry ${name}` };
	const events = (count: number) => `${count} event${count === 1 ? "" : "s"}`;
	const lost = given_up > 0 ? `, ${events(given_up)} given up` : "";
	if (error !== null)
		return {
			ok: false,
			detail: `${to}: ${error}; ${events(waiting)} waiting${lost}`,
			hint: `repair the receiver, then: sluice webhook test ${name}, sluice webhook retry ${name}`,
		};
	const clear =
		to.startsWith("http:") && !LOOPBACK.test(to)
			? { hint: "http: is not encrypted: others on the network can read the events; use https:" }
			: {};
	return { ok: true, detail: `${to}: ${events(delivered)} delivered${lost}`, ...clear };
}
