// sluice diff: what a job has changed.

import type { Call } from "../../command.ts";
import { answer, type Io, idOf } from "../../io.ts";
import { tame } from "../../printing/sequences.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	const document = await io.ask("job.diff", { id: idOf(call.arg("ID")) });
	answer(io, document, () => {
		const patch = String(document.patch);
		if (document.from === "branch") io.print.say(`job ${document.job} has not started; its branch has:`);
		if (patch === "") return io.print.say(document.from === "branch" ? "nothing yet" : `job ${document.job} changed nothing`);
		// Output to another program, such as git apply, is not changed.
		const shown = io.print.terminal ? tame(patch, "drop") : patch;
		for (const line of shown.replace(/\n$/, "").split("\n")) io.print.out(coloured(line, io));
	});
	return undefined;
}

function coloured(line: string, { print }: Io): string {
	if (line.startsWith("@@")) return print.paint("cyan", line);
	if (/^(?:diff |index |\+\+\+ |--- )/.test(line)) return print.paint("dim", line);
	if (line.startsWith("+")) return print.paint("green", line);
	return line.startsWith("-") ? print.paint("red", line) : line;
}
