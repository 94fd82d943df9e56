// sluice lane list, set and remove.

import type { LaneDocument } from "../../api/protocol/lane.ts";
import { wholeOrNone } from "../amounts.ts";
import { byVerb, type Call } from "../command.ts";
import { usage } from "../failure.ts";
import { answer, type Io } from "../io.ts";
import { cap, count, field, type ListColumn, printList } from "../printing/list.ts";
import { plain } from "../printing/print.ts";
import { gauge } from "../printing/status-lines.ts";

export const run = byVerb({ list, set, remove });

const COLUMNS: readonly ListColumn<LaneDocument>[] = [
	field("name", "LANE"),
	count("queued"),
	count("running"),
	cap("max", "MAX"),
	{
		title: "",
		cell: ({ running, max }, io) => (typeof max === "number" && max > 0 ? io.print.paint("cyan", gauge(Number(running), max)) : ""),
	},
	count("priority", "BASE"),
	field("accounts"),
	{
		title: "HOURS",
		shrink: 8,
		cell: ({ active_hours, timezone }) => (plain(active_hours) === "" ? "" : `${plain(active_hours)} ${plain(timezone)}`.trim()),
	},
];

async function list(_call: Call, io: Io): Promise<undefined> {
	const document = await io.ask("lane.list");
	answer(io, document, () => printList(io, document.lanes, COLUMNS, "no lanes"));
}

async function set(call: Call, io: Io): Promise<undefined> {
	const max = call.text("max");
	const priority = call.number("priority");
	if (max === undefined && priority === undefined)
		throw usage("lane set needs --max or --priority", "for example: sluice lane set code --max 8");
	const document = await io.ask("lane.set", {
		name: call.arg("NAME"),
		...(max === undefined ? {} : { max: wholeOrNone(max, "--max") }),
		priority,
	});
	const { lane } = document;
	answer(io, document, () =>
		io.print.say(`lane ${lane.name}: ${lane.max === null ? "no cap" : `${lane.max} at most`}, base priority ${lane.priority}`),
	);
}

async function remove(call: Call, io: Io): Promise<undefined> {
	const name = call.arg("NAME");
	answer(io, await io.ask("lane.remove", { name }), () => io.print.say(`lane ${name} is removed`));
}
