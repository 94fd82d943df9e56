// sluice migrate-store: moves everything from one store to another. Needs no daemon, and none may run.

import type { MoveRequest } from "../../../api/daemon-module.ts";
import type { Call } from "../../command.ts";
import { EXIT } from "../../failure.ts";
import { absolutePath, answer, type Io } from "../../io.ts";
import { counted } from "../../printing/print.ts";
import { printable } from "../../printing/sequences.ts";

export async function run(call: Call, io: Io): Promise<number> {
	const store = (text: string) => (text.includes("://") ? text : absolutePath(io.world, text));
	const request: MoveRequest = {
		from: store(call.arg("FROM")),
		to: store(call.arg("TO")),
		check: call.flag("check"),
		replace: call.flag("replace"),
		again: call.flag("again"),
		progress: progressOf(io),
	};
	const document = await (await io.world.daemon()).migrateStore(request);
	const { from, to, jobs, rows, replaced, marked, objections } = document;
	const what = `${counted(jobs.waiting, "job")} that ${jobs.waiting === 1 ? "waits" : "wait"}, ${jobs.ended} that ended, ${counted(rows.event ?? 0, "event")}`;
	answer(io, document, () => {
		if (!request.check) {
			io.print.say(`moved: ${what}, from ${printable(from)} to ${printable(to)}${replaced ? ", in place of what was there" : ""}`);
			if (!marked) io.print.warn(`${printable(from)} could not be told that it was moved: see to it that no daemon uses it`);
			return;
		}
		io.print.out(`would be moved: ${what}, from ${printable(from)} to ${printable(to)}`);
		for (const { message, hint } of objections) {
			io.print.out(`${io.print.paint("red", "but")} ${printable(message)}`);
			io.print.out(`    ${io.print.paint("dim", `→ ${printable(hint)}`)}`);
		}
	});
	return objections.length > 0 ? EXIT.illegal : EXIT.done;
}

/** Minimum rows between two progress lines: small stores print none, each table of a large store twenty. */
const MIN_ROWS_BETWEEN = 5_000;

function progressOf(io: Io): NonNullable<MoveRequest["progress"]> {
	let printed = 0;
	let table = "";
	return (at) => {
		const name = `${at.step} ${at.table}`;
		if (name !== table) [table, printed] = [name, 0];
		if (at.done - printed < Math.max(MIN_ROWS_BETWEEN, at.total / 20)) return;
		printed = at.done;
		io.print.say(`${at.step === "copy" ? "copied" : "compared"} ${at.done} of ${at.total} rows of ${at.table}`);
	};
}
