// What a live run is doing, in words: for show and status --watch.

import { dollars } from "../../core/ledger.ts";
import type { RunProgress } from "../../core/runs/progress.ts";
import { durationWords, instantOf } from "../times.ts";
import { labelOf, type ShownJob } from "./job-lines.ts";
import type { ListColumn } from "./list.ts";
import { printable } from "./sequences.ts";

/** An older daemon sends only some of it, and nothing for a command. */
type Shown = Partial<RunProgress> | null | undefined;

/** `▸ Edit src/a.ts`, the last message, or the last line of output. */
function activityWords(progress: Shown): string {
	if (progress?.tool) return `▸ ${printable(progress.tool)}`;
	return printable(progress?.message ?? progress?.last_line ?? "");
}

/** `14 turns, 41 k tokens, $0.92, +88 −12`; nothing that is zero or unknown. */
function figureWords(progress: Shown): string {
	const { turns, tool_calls, tokens, cost_micro, lines_added: added, lines_removed: removed } = progress ?? {};
	return [
		turns ? `${turns} ${turns === 1 ? "turn" : "turns"}` : "",
		tool_calls ? `${tool_calls} tool ${tool_calls === 1 ? "call" : "calls"}` : "",
		tokens ? `${tokens < 1000 ? tokens : `${Math.round(tokens / 1000)} k`} tokens` : "",
		cost_micro ? dollars(cost_micro) : "",
		added || removed ? `+${added ?? 0} −${removed ?? 0}` : "",
	]
		.filter(Boolean)
		.join(", ");
}

/** What it does, then the figures. */
export const doingWords = (progress: Shown): string => [activityWords(progress), figureWords(progress)].filter(Boolean).join(" · ");

export const RUN_COLUMNS: readonly ListColumn<ShownJob>[] = [
	{ title: "RUNNING", shrink: 12, cell: (job) => labelOf(job) },
	{ title: "DOING", shrink: 16, cell: ({ run }) => activityWords(run?.progress) },
	{ title: "SO FAR", shrink: 12, cell: ({ run }) => figureWords(run?.progress) },
	{
		title: "FOR",
		align: "right",
		cell({ run, started_at }, { world }) {
			const since = instantOf(run?.started_at ?? started_at);
			return since === undefined ? "" : durationWords(world.now() - since);
		},
	},
];
