// The time zone of schedules and hours: the machine's own in a new home, UTC in one that was made before that was the rule, and named wherever it counts.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TestHome } from "../make/daemons/daemon.ts";

const BERLIN = { TZ: "Europe/Berlin" };
const clockIn = (zone: string, at: string) =>
	new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit" }).format(new Date(at));

async function nightly(home: TestHome, env: Record<string, string>) {
	const { client } = await home.up(env);
	const said = await home.run(["cron", "add", "nightly", "30 2 * * *", "--", "true"], { env });
	const { trigger } = await client.call("cron.show", { name: "nightly" });
	return { client, said, trigger };
}

test("a new home: cron, active hours and budgets in the machine's zone, which is named", async () => {
	const home = new TestHome();
	home.make('lanes: {default: {}, night: {active_hours: ["02:00-02:01"]}}\n');
	const { client, said, trigger } = await nightly(home, BERLIN);
	expect(trigger.timezone).toBe("Europe/Berlin");
	expect(clockIn("Europe/Berlin", trigger.next_at as string)).toBe("02:30");
	expect(said.err).toContain("its schedule is in Europe/Berlin");
	expect((await home.run(["cron", "list"])).out).toContain("Europe/Berlin");
	expect((await client.call("config.get", { key: "timezone" })).settings).toEqual([
		{ key: "timezone", value: "Europe/Berlin", origin: "this machine's zone" },
	]);
	const { job } = (await client.call("job.add", { command: ["true"], lane: "night", cwd: "/" })) as { job: { id: number } };
	expect((await home.run(["why", String(job.id)])).out).toContain("lane night starts jobs only in 02:00-02:01 (Europe/Berlin)");
	expect((await home.run(["lane", "list"])).out).toContain("02:00-02:01 Europe/Berlin");
	// What config.yml says counts more, and can be the machine's zone by its short name.
	await client.call("config.set", { key: "timezone", value: "Asia/Tokyo" });
	expect((await client.call("cron.show", { name: "nightly" })).trigger.timezone).toBe("Asia/Tokyo");
	await client.call("config.set", { key: "timezone", value: "local" });
	expect((await client.call("cron.show", { name: "nightly" })).trigger.timezone).toBe("Europe/Berlin");
});

test("a home that was made before keeps UTC, also after a restart", async () => {
	const home = new TestHome();
	mkdirSync(home.path, { mode: 0o700 });
	writeFileSync(join(home.path, "tag"), "abcdef\n", { mode: 0o600 });
	const { trigger, client } = await nightly(home, BERLIN);
	expect([trigger.timezone, clockIn("UTC", trigger.next_at as string)]).toEqual(["UTC", "02:30"]);
	await client.call("scheduler.down", {});
	await home.gone(home.daemons[0] as never);
	const next = await home.up(BERLIN);
	expect((await next.client.call("cron.show", { name: "nightly" })).trigger.timezone).toBe("UTC");
});
