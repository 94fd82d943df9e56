// sluice run: one dispatch cycle by hand, or its plan.

import type { Call } from "../../command.ts";
import { answer, type Io } from "../../io.ts";
import { printable } from "../../printing/sequences.ts";
import { table } from "../../printing/table.ts";
import { withLocalTimes } from "../../times.ts";

const BOUNDS: Record<string, string> = {
	capacity: "a cap is full",
	batch: "batch_size starts in one cycle",
	ready: "nothing more is ready",
	paused: "all is paused",
	none: "nothing is ready",
};

export async function run(call: Call, io: Io): Promise<undefined> {
	const dry = call.flag("dry-run");
	const document = await io.ask("scheduler.run", dry ? { dry_run: true } : {});
	const { dispatch, skipped, reason, detail } = document;
	answer(io, document, () => {
		const { print } = io;
		print.out(`${dry ? "Would start" : "Started"}: ${dispatch.length === 0 ? "nothing" : dispatch.join(", ")}`);
		const more = detail === undefined ? undefined : withLocalTimes(printable(detail), io.world.now());
		const isPaced = dispatch.length === 0 && reason === "batch" && more !== undefined;
		print.out(`Bound: ${isPaced ? more : (BOUNDS[reason] ?? reason)}`);
		if (more !== undefined && !isPaced) print.out(`       ${more}`);
		if (skipped.length === 0) return;
		const rows = skipped.slice(0, 50).map((one) => [String(one.job), printable(one.reason)]);
		const lines = table(
			[
				{ title: "SKIPPED", align: "right" },
				{ title: "WHY", shrink: 20 },
			],
			rows,
			print.width,
			(text) => print.paint("dim", text),
		);
		for (const line of ["", ...lines]) print.out(line);
		if (skipped.length > 50) print.out(print.paint("dim", `… and ${skipped.length - 50} more`));
	});
	return undefined;
}
