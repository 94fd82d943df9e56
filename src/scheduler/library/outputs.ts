// The library's methods for what hosts keep in the store: output of runs for other hosts (the questions between hosts are in questions.ts), and how far webhooks
// are sent.

import type { Outputs } from "../../contracts/output.ts";
import type { WebhookStates } from "../../contracts/webhook.ts";
import type { Core } from "../operations/core.ts";
import { missingOutputs, ranOn, readOutput, webhookRecords } from "../operations/outputs.ts";

export const outputMethods = (core: Core): Omit<Outputs, "inquire" | "answer"> => ({
	keep: (job, attempt, output) => core.call("keepOutput", { job, attempt, output }),
	read: (job, attempt) => core.look(() => readOutput(job, attempt)),
	missing: (runs) => core.look((tx) => missingOutputs(tx, runs)),
	ranOn: (job, attempt) => core.look((tx) => ranOn(tx, job, attempt)),
});

export const webhookMethods = (core: Core): WebhookStates => ({
	read: () => core.look(webhookRecords),
	keep: (name, record) => core.call("keepWebhook", { name, record }),
	retry: (name, { from, by } = {}) => core.call("retryWebhook", { webhook: name, from }, by === undefined ? undefined : { by }),
});
