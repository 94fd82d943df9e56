// sluice people list, add, link, role and remove.

import type { InvitedDocument, PersonDocument } from "../../../api/protocol/people/people.ts";
import { byVerb } from "../../command.ts";
import { answer, type Io } from "../../io.ts";
import { named, nothing, oneMethod } from "../../one-method.ts";
import { count, field, type ListColumn, printList, time } from "../../printing/list.ts";
import { plain } from "../../printing/print.ts";
import { agoWords, localTime } from "../../times.ts";

const ROLES = ["viewer", "operator", "admin"] as const;

export const run = byVerb({
	list: oneMethod("people.list", nothing, ({ people }, io) =>
		printList(io, people, COLUMNS, "no people: only you, by the socket and the link of sluice open; sluice people add NAME adds one"),
	),
	add: async (call, io) => {
		const document = await io.ask("people.add", { name: call.arg("NAME"), role: call.choice("role", ROLES) ?? "viewer" });
		answer(io, document, () => printLink(document, io));
		return undefined;
	},
	link: async (call, io) => {
		const document = await io.ask("people.link", { name: call.arg("NAME") });
		answer(io, document, () => printLink(document, io));
		return undefined;
	},
	role: oneMethod(
		"people.role",
		// The daemon checks the word: its refusal names the roles that there are.
		(call) => ({ name: call.arg("NAME"), role: call.arg("ROLE") as PersonDocument["role"] }),
		({ person }) => `${plain(person.name)} is ${person.role} from now on, also on pages that are open`,
	),
	remove: oneMethod("people.remove", named, ({ removed }) => `${plain(removed)} is removed: links and sessions have ended`),
});

const COLUMNS: readonly ListColumn<PersonDocument>[] = [
	field("name"),
	field("role"),
	count("sessions", "SIGNED IN"),
	{ title: "LAST SIGN-IN", cell: ({ last_sign_in }, io) => (last_sign_in === null ? "never" : agoWords(last_sign_in.at, io.world.now())) },
	{ title: "FROM", cell: ({ last_sign_in }) => (last_sign_in === null ? "" : plain(last_sign_in.from)) },
	count("open_links", "OPEN LINKS"),
	time("added_at", "ADDED"),
	field("added_by", "BY"),
];

function printLink({ person, link, expires_at, reachable }: InvitedDocument, io: Io): void {
	io.print.out(link);
	io.print.say(
		`this link signs ${plain(person.name)} in as ${person.role}, once, until ${localTime(Date.parse(expires_at))}: send it to nobody else`,
	);
	if (!reachable) io.print.say("it works on this machine alone: sluice serve --listen 0.0.0.0:7443 shares the daemon on the network");
}
