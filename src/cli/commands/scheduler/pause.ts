// sluice pause and resume: everything, or one lane, repo, batch or account; resume also closes breakers.

import type { Result } from "../../../api/protocol.ts";
import type { Call } from "../../command.ts";
import { answer, type Io } from "../../io.ts";
import { printable } from "../../printing/sequences.ts";
import { durationOf } from "../../times.ts";

const SCOPES = ["lane", "repo", "batch", "account"] as const;

export async function run(call: Call, io: Io): Promise<undefined> {
	const scope: { [name in (typeof SCOPES)[number]]?: string | undefined } = {};
	for (const name of SCOPES) scope[name] = call.text(name);
	const agent = call.command.name === "resume" ? call.text("agent") : undefined;
	const [[kind, name] = ["everything", ""]] = Object.entries({ ...scope, agent }).filter(([, given]) => given !== undefined);
	const words = `${kind} ${name}`.trim();
	if (call.command.name === "resume") {
		const document = await io.ask("scheduler.resume", { ...scope, agent });
		answer(io, document, () => io.print.say(resumedWords(agent !== undefined, words, document)));
		return undefined;
	}
	const span = call.text("for");
	const document = await io.ask("scheduler.pause", {
		...scope,
		...(call.flag("freeze") ? { freeze: true } : {}),
		reason: call.text("reason"),
		until: span === undefined ? undefined : new Date(io.world.now() + durationOf(span, "for")).toISOString(),
	});
	answer(io, document, () => {
		const runs = call.flag("freeze") ? "what runs is frozen" : "what runs goes on";
		io.print.say(`paused: ${words}${span === undefined ? "" : ` for ${span}`}; ${runs}`);
		// An older daemon does not send it.
		const { kernel }: Partial<Result<"scheduler.pause">> = document;
		const queued = kernel?.queued ?? 0;
		if (words === "everything" && queued > 0)
			io.print.say(
				`not paused: the kernel's queue; workers can still claim its ${queued === 1 ? "queued entry" : `${queued} queued entries`}`,
			);
	});
}

/** An older daemon does not send the last two. */
type Resumed = Partial<Result<"scheduler.resume">>;

function resumedWords(isAgent: boolean, words: string, { breaker_closed, was_paused = true, still_paused = [] }: Resumed): string {
	if (isAgent && !breaker_closed) return `nothing to resume: ${words} has no open breaker`;
	const still =
		still_paused.length > 0 ? `; still paused: ${still_paused.map((scope) => printable(scope.replace(":", " "))).join(", ")}` : "";
	if (isAgent || was_paused) return `resumed: ${words}${breaker_closed ? ", and its breaker is closed" : ""}${still}`;
	const what =
		words !== "everything" ? `${words} was not paused` : still === "" ? "nothing was paused" : "the queue as a whole was not paused";
	return `${what}${breaker_closed ? "; its breaker is closed" : ""}${still}`;
}
