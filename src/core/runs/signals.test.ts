// Signals to a run: how they are written, and what is said of those that have a command of their own.

import { expect, test } from "vitest";
import { readSignal } from "./signals.ts";

test.each([
	["TERM", "TERM"],
	["sigusr1", "USR1"],
	["SIGINT", "INT"],
	["hup", "HUP"],
])("%s", (written, signal) => expect(readSignal(written, "signal")).toBe(signal));

test.each([
	["KILL", "sluice cancel"],
	["SIGKILL", "sluice cancel"],
	["stop", "sluice freeze"],
	["CONT", "sluice thaw"],
	["9", "INT, TERM"],
	["", ""],
	["__proto__", "INT, TERM"],
	["SEGV", "INT, TERM"],
])("%j is refused", (written, hint) => {
	let error: unknown;
	try {
		readSignal(written, "signal");
	} catch (thrown) {
		error = thrown;
	}
	expect(error).toMatchObject({ code: "invalid", field: "signal" });
	if (hint !== "") expect(error).toMatchObject({ hint: expect.stringContaining(hint) });
});
