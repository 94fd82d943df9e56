// sluice diff: what a job has changed.

import type { Io } from "../../io.ts";
import { ofJob, oneMethod } from "../../one-method.ts";
import { tame } from "../../printing/sequences.ts";

export const run = oneMethod("job.diff", ofJob, ({ job, from, patch }, io) => {
	if (from === "branch") io.print.say(`job ${job} has not started; its branch has:`);
	if (patch === "") return from === "branch" ? "nothing yet" : `job ${job} changed nothing`;
	// Output to another program, such as git apply, is not changed.
	const shown = io.print.terminal ? tame(patch, "drop") : patch;
	return shown
		.replace(/\n$/, "")
		.split("\n")
		.map((line) => coloured(line, io));
});

function coloured(line: string, { print }: Io): string {
	if (line.startsWith("@@")) return print.paint("cyan", line);
	if (/^(?:diff |index |\+\+\+ |--- )/.test(line)) return print.paint("dim", line);
	if (line.startsWith("+")) return print.paint("green", line);
	return line.startsWith("-") ? print.paint("red", line) : line;
}
