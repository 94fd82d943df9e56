// sluice pause and resume: everything, or one lane, repo, batch or account; resume also closes breakers.

import type { Call } from "../../command.ts";
import { type AnswerDocument, answer, type Io } from "../../io.ts";
import { printable } from "../../printing/sequences.ts";
import { durationOf } from "../../times.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	const params: AnswerDocument = {};
	let words = "everything";
	const scopes = ["lane", "repo", "batch", "account", ...(call.command.name === "resume" ? ["agent"] : [])];
	for (const name of scopes)
		if (call.has(name)) {
			params[name] = call.text(name);
			words = `${name} ${call.text(name)}`;
		}
	if (call.command.name === "resume") {
		const document = await io.ask("scheduler.resume", params);
		answer(io, document, () => io.print.say(resumedWords(params.agent !== undefined, words, document as Resumed)));
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
		// An older daemon does not send it.
		const { queued } = (document.kernel ?? { queued: 0 }) as { queued: number };
		if (words === "everything" && queued > 0)
			io.print.say(
				`not paused: the kernel's queue; workers can still claim its ${queued === 1 ? "queued entry" : `${queued} queued entries`}`,
			);
	});
	return undefined;
}

/** An older daemon does not send the last two. */
type Resumed = { breaker_closed?: boolean; was_paused?: boolean; still_paused?: string[] };

function resumedWords(isAgent: boolean, words: string, { breaker_closed, was_paused = true, still_paused = [] }: Resumed): string {
	if (isAgent && !breaker_closed) return `nothing to resume: ${words} has no open breaker`;
	const still =
		still_paused.length > 0 ? `; still paused: ${still_paused.map((scope) => printable(scope.replace(":", " "))).join(", ")}` : "";
	if (isAgent || was_paused) return `resumed: ${words}${breaker_closed ? ", and its breaker is closed" : ""}${still}`;
	const what =
		words !== "everything" ? `${words} was not paused` : still === "" ? "nothing was paused" : "the queue as a whole was not paused";
	return `${what}${breaker_closed ? "; its breaker is closed" : ""}${still}`;
}
