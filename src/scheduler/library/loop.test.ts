// A pass that hangs is abandoned, so that the next one can begin.

import { expect, test } from "vitest";
import { FakeHost, signal } from "../../../test/make/fakes.ts";
import { openStand } from "../../../test/make/stand.ts";
import type { Facts } from "../../contracts/host.ts";
import { ABANDONED, PASS_MS } from "../../core/time/pass-limit.ts";

/** Its probes wait until the test lets them answer; its timers fire when the test calls them. */
class SlowHost extends FakeHost {
	readonly answers = signal();
	readonly timers: { ms: number; call: () => void }[] = [];
	slow = true;

	override async probe(keys: string[]): Promise<Facts> {
		if (this.slow) await this.answers.given;
		return super.probe(keys);
	}

	override after(ms?: number, call?: () => void): () => void {
		if (ms !== undefined && call !== undefined) this.timers.push({ ms, call });
		return () => {};
	}
}

test("a pass that hangs is abandoned after five minutes with an error in the log, and the next pass works", async () => {
	const host = new SlowHost();
	host.slow = false;
	const said: string[] = [];
	const t = await openStand({ host, log: { error: (message) => void said.push(message) }, config: { on_missing: "wait" } });
	const job = await t.add({ needs: ["file:/out"], cwd: "/" });
	host.slow = true;
	const hanging = t.sluice.tick();
	await host.turn();
	const late = host.timers.filter(({ ms }) => ms === PASS_MS).at(-1);
	late?.call();
	await expect(hanging).rejects.toThrow(ABANDONED);
	expect(said).toEqual([ABANDONED]);
	host.slow = false;
	host.facts.set("artifact:file:/out", true);
	await t.sluice.tick();
	expect(await t.start()).toEqual([job]);
	host.answers.give();
});
