// What the simulator found, each as a test of its own; the seeds are in sim/seeds.txt.

import { describe, expect, it } from "vitest";
import { MINUTE, SECOND } from "./make/fakes.ts";
import { openStand } from "./make/stand.ts";

describe("a clock that was set back", () => {
	it("does not make a job ready later than the end of its back-off", async () => {
		const stand = await openStand();
		const id = await stand.add({ retry: { max: 1, base_ms: 30 * SECOND, jitter: 0 } });
		stand.clock.jump(-2 * MINUTE);
		await stand.start();
		await stand.fail(id);
		const over = stand.clock.now() + 30 * SECOND;
		await stand.wait(40 * SECOND);
		expect((await stand.show(id)).ready_at).toBe(over);
	});
});
