// Descriptions of the `webhook` commands.

import { type ArgSpec, commandsOf, number } from "../../command.ts";

const NAME: ArgSpec = { name: "NAME", help: "The webhook, by its name in the configuration.", take: "one" };

export const WEBHOOK = commandsOf("webhook", () => import("../../commands/webhook.ts"), {
	list: {
		help: "Webhooks: what each has delivered, what waits, what fails.",
		more: ["They are configured under `webhooks`; docs/webhooks.md says how, and how a receiver verifies a request."],
		examples: [["sluice webhook list", "what fails, and when it is tried again"]],
	},
	test: {
		help: "Send a signed test event now, and say what the receiver answered.",
		args: [NAME],
		examples: [["sluice webhook test ci", "exits with 1 if it was not delivered"]],
	},
	retry: {
		help: "Send whatever waits now, not when its back-off is over.",
		args: [NAME],
		options: [number("from", "SEQ", "Send everything from this event on again; a receiver knows repeats by their id.")],
		examples: [
			["sluice webhook retry ci", "the receiver has been repaired"],
			["sluice webhook retry ci --from 1200", "it has lost what it had received"],
		],
	},
});
