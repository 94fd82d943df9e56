// sluice webhook: events that are sent to other programs.

import type { WebhookDocument } from "../../api/protocol/webhook/webhook.ts";
import { byVerb } from "../command.ts";
import { EXIT } from "../failure.ts";
import { named, nothing, oneMethod } from "../one-method.ts";
import { count, field, type ListColumn, printList, time } from "../printing/list.ts";
import { printable } from "../printing/sequences.ts";

/** What is wrong, if something is. */
const troubleOf = ({ enabled, problem, error }: WebhookDocument): string => (enabled ? (problem ?? error ?? "") : "");

const COLUMNS: readonly ListColumn<WebhookDocument>[] = [
	field("name", "WEBHOOK"),
	field("to", "TO"),
	{ title: "STATE", cell: ({ state }, { print }) => (state === "failing" ? print.paint("red", state) : state) },
	count("waiting", "WAITING"),
	count("delivered", "DELIVERED"),
	count("given_up", "GIVEN UP"),
	time("delivered_at", "LAST"),
	time("retry_at", "NEXT TRY"),
	{ title: "WHY", shrink: 12, cell: (one, { print }) => print.paint("red", printable(troubleOf(one))) },
];

export const run = byVerb({
	list: oneMethod("webhook.list", nothing, ({ webhooks }, io) =>
		printList(io, webhooks, COLUMNS, "no webhooks; they are configured under `webhooks`: docs/webhooks.md"),
	),
	test: oneMethod(
		"webhook.test",
		named,
		({ delivered, status, took_ms, error, answer }, io, call) => {
			const name = call.arg("NAME");
			if (delivered) io.print.say(`${name} took the test event: ${status} in ${took_ms} ms`);
			else io.print.warn(`${io.print.paintTalk("red", "not delivered:")} ${printable(error ?? "")} (${took_ms} ms)`);
			const [said = ""] = answer.split("\n");
			if (!delivered && said !== "") io.print.warn(`  it said: ${printable(said.slice(0, 200))}`);
			return undefined;
		},
		({ delivered }) => (delivered ? EXIT.done : EXIT.failed),
	),
	retry: oneMethod(
		"webhook.retry",
		(call) => ({ ...named(call), from: call.number("from") }),
		({ webhook }) => `${webhook}: whatever waits is sent now; sluice webhook list shows what became of it`,
	),
});
