// sluice clear: cancels all jobs that are not running, after a confirmation.

import type { Call } from "../../command.ts";
import { EXIT, usage } from "../../failure.ts";
import { answer, firstLine, type Io } from "../../io.ts";
import { counted } from "../../printing/print.ts";
import { shellWord } from "../../printing/sequences.ts";

export async function run(call: Call, io: Io): Promise<number | undefined> {
	const item = call.text("item");
	if (!call.flag("yes")) {
		const { world, print } = io;
		if (!world.stdin.isTTY || io.json)
			throw usage(
				"clear ends jobs, and there is no terminal to ask at",
				`if you are sure: sluice clear ${item === undefined ? "" : `--item ${shellWord(item)} `}--yes`,
			);
		const { queued_total } = await io.ask("scheduler.status");
		const what = item === undefined ? `all ${counted(queued_total, "job")} that do not run` : `all jobs of item ${item} that do not run`;
		world.stderr.write(`End ${what}? [y/N] `);
		if (!/^y(?:es)?$/i.test((await firstLine(world.stdin)).trim())) {
			print.say("nothing was ended");
			return EXIT.failed;
		}
	}
	const document = await io.ask("scheduler.clear", item === undefined ? {} : { item });
	const { cleared } = document;
	answer(io, document, () =>
		io.print.say(
			cleared.length === 0
				? item === undefined
					? "there was nothing to end"
					: `no waiting job works on item ${item}`
				: `ended: ${counted(cleared.length, "job")}`,
		),
	);
	return undefined;
}
