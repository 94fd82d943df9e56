// sluice run: one dispatch cycle by hand, or its plan.

import { asTyped, oneMethod } from "../../one-method.ts";
import { type ListColumn, printList, right } from "../../printing/list.ts";
import { printable } from "../../printing/sequences.ts";
import { withLocalTimes } from "../../times.ts";

const BOUNDS: Record<string, string> = {
	capacity: "a cap is full",
	batch: "batch_size starts in one cycle",
	ready: "nothing more is ready",
	paused: "all is paused",
	none: "nothing is ready",
};

const COLUMNS: readonly ListColumn<{ job: number; reason: string }>[] = [
	{ title: "SKIPPED", ...right, cell: ({ job }) => String(job) },
	{ title: "WHY", shrink: 20, cell: ({ reason }) => printable(reason) },
];

export const run = oneMethod("scheduler.run", asTyped, ({ dispatch, skipped, reason, detail }, io, call) => {
	const { print } = io;
	print.out(`${call.flag("dry-run") ? "Would start" : "Started"}: ${dispatch.length === 0 ? "nothing" : dispatch.join(", ")}`);
	const more = detail === undefined ? undefined : withLocalTimes(printable(detail), io.world.now());
	const isPaced = dispatch.length === 0 && reason === "batch" && more !== undefined;
	print.out(`Bound: ${isPaced ? more : (BOUNDS[reason] ?? reason)}`);
	if (more !== undefined && !isPaced) print.out(`       ${more}`);
	if (skipped.length === 0) return;
	print.out("");
	printList(io, skipped.slice(0, 50), COLUMNS, "");
	if (skipped.length > 50) print.out(print.paint("dim", `… and ${skipped.length - 50} more`));
});
