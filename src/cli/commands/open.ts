// sluice open: where a job works.

import type { Call } from "../command.ts";
import { answer, type Io, idOf } from "../io.ts";
import { plain } from "../print.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	const document = await io.ask("job.open", { id: idOf(call.arg("ID")) });
	answer(io, document, () => {
		io.print.out(plain(document.path));
		if (document.branch !== null) io.print.say(`branch ${plain(document.branch)}, from ${plain(document.base_branch)}`);
		if (document.session !== null) io.print.say(`session ${plain(document.session)}`);
		if (document.there === false) io.print.say("the folder is gone; the next run makes it again");
	});
	return undefined;
}
