// sluice prune: removes worktrees of ended jobs.

import type { Call } from "../../command.ts";
import { answer, type Io } from "../../io.ts";
import { counted, plain } from "../../printing/print.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	const dry = call.flag("dry-run");
	const document = await io.ask("scheduler.prune", dry ? { dry_run: true } : {});
	const { removed, kept } = document;
	answer(io, document, () => {
		for (const { path, rescued } of removed)
			io.print.out(
				`${dry ? "would remove" : "removed"} ${plain(path)}${rescued ? `; unsaved work ${dry ? "would go" : "went"} to ${plain(rescued)}` : ""}`,
			);
		for (const { path, why } of kept) io.print.out(io.print.paint("dim", `kept ${plain(path)}: ${plain(why)}`));
		io.print.say(`${dry ? "to be removed" : "removed"}: ${counted(removed.length, "worktree")}`);
	});
	return undefined;
}
