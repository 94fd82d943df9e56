// Descriptions of the `people` commands.

import { commandsOf, text } from "../../command.ts";

const NAME = { name: "NAME", help: "The person: a short name, or the address that a proxy passes on.", take: "one" } as const;
const ROLES = ["viewer", "operator", "admin"] as const;

export const PEOPLE = commandsOf("people", () => import("../../commands/people/people.ts"), {
	list: { help: "The people who share this daemon, and what each may do.", examples: [["sluice people list", "who is there"]] },
	add: {
		help: "Add a person, and print a link that signs in once.",
		more: [
			"viewer: reads. operator: acts on jobs, which includes starting any program as your user. admin: everything, also settings and people.",
			"The link counts for three days. Send it to nobody else: the first browser that opens it is signed in.",
		],
		args: [NAME],
		options: [text("role", "ROLE", "What the person may do. Default: viewer.", { choices: ROLES })],
		examples: [
			["sluice people add anna --role operator", "she may act on jobs"],
			["sluice people add wall", "a screen that only shows"],
		],
	},
	link: {
		help: "Print another sign-in link for a person: for one more browser, or instead of one that was lost.",
		args: [NAME],
		examples: [["sluice people link anna", "for her phone"]],
	},
	role: {
		help: "Give a person another role; it counts at once.",
		args: [NAME, { name: "ROLE", help: "viewer, operator or admin.", take: "one", completes: ROLES }],
		examples: [["sluice people role anna viewer", "she may only look from now on"]],
	},
	remove: {
		help: "Remove a person: links and sessions end at once, also open pages.",
		more: ["Jobs that the person added stay."],
		args: [NAME],
		examples: [["sluice people remove anna", ""]],
	},
});
