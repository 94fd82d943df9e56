// Chaos in short: real work under a daemon that is killed at a named step and at random. `npm run chaos` plays a hundred rounds.

import { expect, test } from "vitest";
import { playRound } from "../../chaos/round.ts";
import { makeProgram } from "../make/daemons/program.ts";

test.each([
	{ seed: 7, step: "launched:3" },
	{ seed: 8, step: undefined },
])("nothing is lost, doubled, interrupted or left behind: %o", { timeout: 180_000 }, async ({ seed, step }) => {
	const daemon = [makeProgram("src/daemon/main.ts"), "--port", "0"];
	const { faults, kills } = await playRound({ seed, jobs: 20, kills: 2, step, daemon });
	expect(faults).toEqual([]);
	expect(kills).toBeGreaterThanOrEqual(2);
});
