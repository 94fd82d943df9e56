// sluice artifact list, set and mark.

import type { ArtifactDocument } from "../../api/protocol/artifact.ts";
import { byVerb } from "../command.ts";
import { asTyped, nothing, oneMethod } from "../one-method.ts";
import { field, type ListColumn, printList, time } from "../printing/list.ts";
import { printable } from "../printing/sequences.ts";

const setMarker = (method: "artifact.set" | "artifact.mark") =>
	oneMethod(method, asTyped, ({ artifact, present }) => `${artifact} is ${present ? "there" : "not there"}`);

export const run = byVerb({
	list: oneMethod("artifact.list", nothing, ({ artifacts }, io) => printList(io, artifacts, COLUMNS, "no artifact is known")),
	set: setMarker("artifact.set"),
	mark: setMarker("artifact.mark"),
});

const COLUMNS: readonly ListColumn<ArtifactDocument>[] = [
	field("artifact"),
	field("repo"),
	{
		title: "STATE",
		cell: ({ present, error }, { print }) => {
			if (error) return print.paint("red", printable(error));
			if (present === null) return "unknown";
			return present ? print.paint("green", "present") : print.paint("yellow", "missing");
		},
	},
	time("observed_at", "SEEN"),
];
