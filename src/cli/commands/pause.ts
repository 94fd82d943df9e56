// sluice pause and resume: everything, or one lane, repo, batch or account.

import type { Call } from "../command.ts";
import { answer, type Document, type Io } from "../io.ts";
import { durationOf } from "../times.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	const params: Document = {};
	let words = "everything";
	for (const name of ["lane", "repo", "batch", "account"])
		if (call.has(name)) {
			params[name] = call.text(name);
			words = `${name} ${call.text(name)}`;
		}
	if (call.command.name === "resume") {
		answer(io, await io.ask("scheduler.resume", params), () => io.print.say(`resumed: ${words}`));
		return undefined;
	}
	if (call.flag("freeze")) params.freeze = true;
	if (call.has("reason")) params.reason = call.text("reason");
	const span = call.text("for");
	if (span !== undefined) params.until = new Date(io.world.now() + durationOf(span, "for")).toISOString();
	const document = await io.ask("scheduler.pause", params);
	answer(io, document, () => {
		const runs = call.flag("freeze") ? "what runs is frozen" : "what runs goes on";
		io.print.say(`paused: ${words}${span === undefined ? "" : ` for ${span}`}; ${runs}`);
	});
	return undefined;
}
