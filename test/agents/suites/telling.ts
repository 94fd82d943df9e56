// A person tells a run something: the program is stopped when its tool is done, and goes on with the text in its session.

import { existsSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { until } from "../../make/daemons/daemon.ts";
import { usageFor } from "../charges.ts";
import { bodiesOf, openStand, type Tried } from "./stand.ts";

export function telling(tried: Tried): void {
	const usage = usageFor(tried.agent);

	test("told during a tool call: the tool ends, the session goes on with the text, no retry is burned", async () => {
		const { api, daemon } = await openStand(tried);
		const wait = "touch began; until test -e go; do sleep 0.1; done; echo made > made.txt";
		// The model takes its time after the tool: the program is stopped meanwhile. opencode is stopped before it asks the model again.
		const after = tried.agent === "opencode" ? [] : [{ hang: "silent" as const }];
		api.script("key-a", [{ shell: wait, usage }, ...after], { say: "with the new API", usage });
		const id = await daemon.add("a", "take long");
		await until(() => existsSync(daemon.file("began")));
		expect(await daemon.ask("tell", String(id), "use the new API")).toMatchObject({ how: "turn", job: { id } });
		writeFileSync(daemon.file("go"), "");
		const job = await daemon.ended(id);
		expect(job).toMatchObject({ status: "succeeded", attempt: 2, failures: 0, told: [{ number: 1, attempt: 2 }] });
		expect(existsSync(daemon.file("made.txt"))).toBe(true);
		const [first, second] = [await daemon.outcome(id, 1), await daemon.outcome(id, 2)];
		expect([first.exit_kind, second.session]).toEqual(["preempted", first.session]);
		const last = bodiesOf(api, "key-a").at(-1) ?? "";
		expect(last).toContain("take long");
		expect(last.match(/use the new API/g)).toHaveLength(1);
	});
}
