// sluice lane list, set and remove.

import type { LaneDocument } from "../../api/protocol/lane.ts";
import { wholeOrNone } from "../amounts.ts";
import { byVerb } from "../command.ts";
import { usage } from "../failure.ts";
import { named, nothing, oneMethod } from "../one-method.ts";
import { cap, count, field, type ListColumn, printList } from "../printing/list.ts";
import { plain } from "../printing/print.ts";
import { gauge } from "../printing/status-lines.ts";

export const run = byVerb({
	list: oneMethod("lane.list", nothing, ({ lanes }, io) => printList(io, lanes, COLUMNS, "no lanes")),
	set: oneMethod(
		"lane.set",
		(call) => {
			const [max, priority] = [call.text("max"), call.number("priority")];
			if (max === undefined && priority === undefined)
				throw usage("lane set needs --max or --priority", "for example: sluice lane set code --max 8");
			return { ...named(call), max: max === undefined ? undefined : wholeOrNone(max, "--max"), priority };
		},
		({ lane: { name, max, priority } }) => `lane ${name}: ${max === null ? "no cap" : `${max} at most`}, base priority ${priority}`,
	),
	remove: oneMethod("lane.remove", named, (_, _io, call) => `lane ${call.arg("NAME")} is removed`),
});

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
