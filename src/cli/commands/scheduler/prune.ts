// sluice prune: removes worktrees of ended jobs.

import type { Call } from "../../command.ts";
import { oneMethod } from "../../one-method.ts";
import { counted, plain } from "../../printing/print.ts";

const dryRun = (call: Call) => ({ dry_run: call.flag("dry-run") || undefined });

export const run = oneMethod("scheduler.prune", dryRun, ({ removed, kept }, io, call) => {
	const dry = call.flag("dry-run");
	for (const { path, rescued } of removed)
		io.print.out(
			`${dry ? "would remove" : "removed"} ${plain(path)}${rescued ? `; unsaved work ${dry ? "would go" : "went"} to ${plain(rescued)}` : ""}`,
		);
	for (const { path, why } of kept) io.print.out(io.print.paint("dim", `kept ${plain(path)}: ${plain(why)}`));
	return `${dry ? "to be removed" : "removed"}: ${counted(removed.length, "worktree")}`;
});
