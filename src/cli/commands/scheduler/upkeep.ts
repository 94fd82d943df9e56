// sluice gc and prune: delete what ended long ago, and remove its worktrees.

import { byVerb, type Call } from "../../command.ts";
import { usage } from "../../failure.ts";
import { asTyped, oneMethod } from "../../one-method.ts";
import { counted, plain } from "../../printing/print.ts";

function daysOf(call: Call): { days: number | undefined } {
	const days = call.number("days");
	if (days !== undefined && days < 0) throw usage("--days must not be negative");
	return { days };
}

const gc = oneMethod("scheduler.gc", daysOf, ({ deleted, kept, unmerged = 0 }) => {
	const referred = kept - unmerged;
	const why = [
		referred > 0 && `since others still refer to them: ${referred}`,
		unmerged > 0 && `since their merge is open: ${unmerged} (sluice status names those that need you; sluice merge ID --drop gives one up)`,
	].filter(Boolean);
	return [`deleted: ${counted(deleted, "job")}`, ...why.map((one) => `kept, ${one}`)].join("; ");
});

const prune = oneMethod("scheduler.prune", asTyped, ({ removed, kept }, io, call) => {
	const dry = call.flag("dry-run");
	for (const { path, rescued } of removed)
		io.print.out(
			`${dry ? "would remove" : "removed"} ${plain(path)}${rescued ? `; unsaved work ${dry ? "would go" : "went"} to ${plain(rescued)}` : ""}`,
		);
	for (const { path, why } of kept) io.print.out(io.print.paint("dim", `kept ${plain(path)}: ${plain(why)}`));
	return `${dry ? "to be removed" : "removed"}: ${counted(removed.length, "worktree")}`;
});

export const run = byVerb({ gc, prune });
