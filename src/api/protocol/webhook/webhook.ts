// Methods of webhooks: what is delivered, a test, another try.

import type { WebhookTest, WebhookView } from "../../../contracts/webhook.ts";
import type { Doc, Timed } from "../../documents.ts";
import { maybe, operatorMethod, viewerMethod, whole, word } from "../../fields.ts";

export type WebhookDocument = Timed<WebhookView, "since" | "delivered_at" | "failed_at" | "retry_at">;

const name = word("its name in the configuration");
const ROW =
	"{name, to, enabled, state: idle | sending | failing | off, waiting, behind, delivered, delivered_at, delivered_seq, given_up, failures, failed_at, error, retry_at, cursor, since, problem}";

export const WEBHOOK_METHODS = {
	"webhook.list": viewerMethod<Doc<{ webhooks: WebhookDocument[] }>>()({
		about:
			"Webhooks: what each has delivered, what waits, and why the last attempt failed. `to` is the host alone, without the path of its address.",
		params: {},
		result: `{webhooks: [${ROW}]}`,
	}),
	"webhook.test": operatorMethod<Doc<WebhookTest>>()({
		about: "Sends a signed event of kind `test` from this host now, once, whatever else waits.",
		params: { name },
		result: "{delivered, status, took_ms, error, answer}",
	}),
	"webhook.retry": operatorMethod<Doc<{ webhook: string }>>()({
		about:
			"Ends the back-off of a webhook: the leader sends at once whatever waits. With `from`, it sends everything from that event on again.",
		params: { name, from: maybe(whole("the number of an event", 1, Number.MAX_SAFE_INTEGER)) },
		result: "{webhook}",
	}),
} as const;
