// sluice backup: writes the queue's present state to a file. Needs no daemon, and does not disturb one.

import type { Call } from "../../command.ts";
import { absolutePath, answer, type Io } from "../../io.ts";
import { printable } from "../../printing/sequences.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	const file = absolutePath(io.world, call.arg("FILE"));
	const document = await (await io.world.daemon()).backup({ home: io.world.homeOf(io.home), file });
	answer(io, document, () => io.print.say(`${printable(document.store)} is kept in ${printable(file)}, ${document.bytes} bytes`));
}
