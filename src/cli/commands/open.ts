// sluice open: where a job works.

import type { Call } from "../command.ts";
import { answer, type Io, idOf } from "../io.ts";
import { shellWord } from "../job-lines.ts";
import { plain } from "../print.ts";
import { printable } from "../sequences.ts";

function commandOf(path: string, { argv, env }: { argv: string[]; env: Record<string, string> }): string {
	const variables = Object.entries(env).map(([name, value]) => `${name}=${shellWord(value)} `);
	return printable(`cd ${shellWord(path)} && ${variables.join("")}${argv.map(shellWord).join(" ")}`);
}

export async function run(call: Call, io: Io): Promise<undefined> {
	const document = await io.ask("job.open", { id: idOf(call.arg("ID")) });
	answer(io, document, () => {
		io.print.out(plain(document.path));
		if (document.branch !== null) io.print.say(`branch ${plain(document.branch)}, from ${plain(document.base_branch)}`);
		if (document.session !== null) io.print.say(`session ${plain(document.session)}`);
		const { resume } = document as { resume?: { argv: string[]; env: Record<string, string> } | null };
		if (resume) io.print.say(`go on with it: ${commandOf(String(document.path), resume)}`);
		if (document.there === false) io.print.say("the folder is gone; the next run makes it again");
	});
	return undefined;
}
