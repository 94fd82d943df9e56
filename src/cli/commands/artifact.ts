// sluice artifact list, set and mark.

import type { ArtifactDocument } from "../../api/protocol/artifact.ts";
import { byVerb, type Call } from "../command.ts";
import { answer, type Io } from "../io.ts";
import { field, type ListColumn, printList, time } from "../printing/list.ts";
import { printable } from "../printing/sequences.ts";

export const run = byVerb({ list, set: setMarker("artifact.set"), mark: setMarker("artifact.mark") });

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

async function list(_call: Call, io: Io): Promise<undefined> {
	const document = await io.ask("artifact.list");
	answer(io, document, () => printList(io, document.artifacts, COLUMNS, "no artifact is known"));
}

function setMarker(method: "artifact.set" | "artifact.mark") {
	return async (call: Call, io: Io): Promise<undefined> => {
		const artifact = call.arg("ARTIFACT");
		const absent = call.flag("absent");
		const document = await io.ask(method, { artifact, ...(absent ? { absent } : {}) });
		answer(io, document, () => io.print.say(`${artifact} is ${absent ? "not there" : "there"}`));
	};
}
