// Descriptions of the `account` commands.

import { commandsOf, text } from "../command.ts";

const NAME = { name: "NAME", help: "The account.", take: "one" } as const;

export const ACCOUNT = commandsOf("account", () => import("../commands/account.ts"), {
	list: {
		help: "Accounts: open, limited, closed or with their provider down, and until when.",
		examples: [["sluice account list", "who may go on"]],
	},
	show: {
		help: "One account: whether work may start on it, and all that keeps it from that.",
		args: [NAME],
		examples: [["sluice account show work", "why nothing starts on it"]],
	},
	limit: {
		help: "Say that a provider has limited an account, or that it is closed.",
		more: ["With none of the options it is held for a few seconds, longer each time."],
		args: [NAME],
		options: [
			text("until", "TIME", "The reset that the provider named."),
			text("for", "SPAN", "Or how long it said to wait."),
			text("closed", "WHY", "Closed until a person clears it."),
		],
		excludes: [["until", "for", "closed"]],
		examples: [
			["sluice account limit work --until 14:00", "nothing starts on it before"],
			["sluice account limit work --closed 'card expired'", "until account clear"],
		],
	},
	clear: {
		help: "Open an account that was limited or closed, or whose provider was down.",
		args: [NAME],
		examples: [["sluice account clear work", "after logging in again"]],
	},
});
