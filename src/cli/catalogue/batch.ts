// Descriptions of the `batch` commands.

import { commandsOf, flag } from "../command.ts";
import { REASON } from "../command-line/shared-options.ts";

const NAME = { name: "NAME", help: "The batch.", take: "one" } as const;

export const BATCH = commandsOf("batch", () => import("../commands/batch.ts"), {
	list: {
		help: "Batches that are open, and how far they are.",
		options: [flag("all", "Closed ones too.")],
		examples: [["sluice batch list", "what is done of each"]],
	},
	show: { help: "One batch with its jobs.", args: [NAME], examples: [["sluice batch show sling-17", "job by job"]] },
	close: {
		help: "Close a batch that you own: now, or when its last job ends.",
		args: [NAME],
		examples: [["sluice batch close night", "nothing more comes"]],
	},
	cancel: {
		help: "End all jobs of a batch.",
		args: [NAME],
		options: [REASON],
		examples: [["sluice batch cancel sling-17 --reason 'wrong branch'", "waiting ones at once, running ones after a stop"]],
	},
	retry: {
		help: "Run again what failed in a batch, and what comes after it.",
		args: [NAME],
		examples: [["sluice batch retry sling-17", "what succeeded stays"]],
	},
});
