// Methods of webhooks.

import type { WebhookView } from "../../../contracts/webhook.ts";
import { given } from "../../../core/given.ts";
import { doc, type Handlers } from "../../call.ts";
import { maybeTime, rfc3339 } from "../../documents.ts";
import type { WebhookDocument } from "../../protocol/webhook/webhook.ts";

const webhookDocument = (view: WebhookView): WebhookDocument => ({
	...view,
	since: rfc3339(view.since),
	delivered_at: maybeTime(view.delivered_at),
	failed_at: maybeTime(view.failed_at),
	retry_at: maybeTime(view.retry_at),
});

export const webhookMethods: Handlers<"webhook"> = {
	"webhook.list": async (_params, { context }) => doc({ webhooks: (await context.webhooks.list()).map(webhookDocument) }),
	"webhook.test": async ({ name }, { context }) => doc(await context.webhooks.test(name)),
	"webhook.retry": async ({ name, from }, { context, by }) => {
		await context.webhooks.retry(name, { by, ...given({ from }) });
		return doc({ webhook: name });
	},
};
