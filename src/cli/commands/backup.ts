// sluice backup: the queue as it is now, into a file. Needs no daemon, and disturbs none.

import type { Call } from "../command.ts";
import { answer, type Io, placeOf } from "../io.ts";
import { printable } from "../sequences.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	const file = placeOf(io.world, call.arg("FILE"));
	const document = await (await io.world.daemon()).backup({ home: io.world.homeOf(io.home), file });
	answer(io, document, () =>
		io.print.say(`${printable(String(document.store))} is kept in ${printable(file)}, ${Number(document.bytes)} bytes`),
	);
	return undefined;
}
