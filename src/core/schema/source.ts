// What a host's settings say of a source of items, one row a key.

import * as check from "../input/check.ts";
import type { Reader } from "./field.ts";
import { checkedMap, setting, usualOf, type ValuesOf } from "./setting.ts";
import { flag, labelOrNone, oneOf } from "./setting-values.ts";

/** The kinds of sources, and the field of an item that each can write back. */
const WRITES = { cards: "agent_status", beads: "status", folder: null } as const;
type SourceKind = keyof typeof WRITES;

const root: Reader<string> = (value, field) => {
	const path = check.text(value, field, { max: 4096, lines: "one" });
	if (!/^(?:\/|~\/)/.test(path)) throw check.wrong(field, `${check.shown(path)} is not a whole path`, "begin it with / or ~/");
	return path;
};
const writeBack: Reader<"agent_status" | "status" | null> = (value, field) =>
	value === null || value === false ? null : check.oneOf(value, ["agent_status", "status"] as const, field);

const SOURCE = {
	kind: setting("cards", oneOf(...(Object.keys(WRITES) as SourceKind[]))).about("`cards`, `beads` or `folder`."),
	root: setting("", root).about("The folder of the phases, of `.beads`, or of the prompt files; begins with `/` or `~/`.", "–"),
	repo: setting(null, labelOrNone).about("The repo of its items, if their ids have no repo's prefix."),
	watch: setting(false, flag).about("Eligible items become jobs by themselves."),
	write_back: setting(null, writeBack).about("`agent_status` (cards) or `status` (beads, through `bd`): what Sluice may change."),
	history_on_queue: setting(false, flag).about("Also write a line of history when a card is queued."),
	lane: setting(null, labelOrNone).about("The lane of its jobs; `null` = a card's `agent_flow`. A recipe's own lane comes first."),
	recipe: setting(null, labelOrNone).about(
		"The recipe of its items; `null` = the repo's, or else the recipe named like a card's `agent_flow`, or else `work`.",
	),
	agent: setting(null, labelOrNone).about("Replaces the agent that the recipe names."),
};
export type SourceSettings = ValuesOf<typeof SOURCE>;
export const SOURCE_DEFAULT: SourceSettings = usualOf(SOURCE);

function checkSource({ kind, root, write_back }: SourceSettings, field: string): void {
	if (root === "") throw check.wrong(`${field}.root`, "is missing", "the folder that the items are in");
	if (write_back !== null && write_back !== WRITES[kind])
		throw check.wrong(
			`${field}.write_back`,
			`${kind} cannot write back ${write_back}`,
			WRITES[kind] === null ? "leave it out" : `${WRITES[kind]} is what can be written`,
		);
}
export const SOURCES = checkedMap(SOURCE, checkSource, "Sources by name.");
