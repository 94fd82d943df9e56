// Two daemons on one store: what is asked of one reaches the runs of the other.

import { describe, expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { until } from "../make/daemon.ts";
import { hosts } from "../make/host.ts";

const add = async (client: Client, job: Record<string, unknown>): Promise<number> => {
	const { job: added } = (await client.call("job.add", job)) as { job: { id: number } };
	return added.id;
};
const show = async (client: Client, id: number) => (await client.call("job.show", { id })).job;
const GRACES = "stop: {grace_int: 100ms, grace_term: 300ms}\n";

describe("on another host", () => {
	test("a job that is added here starts there, and is cancelled from here", async () => {
		const { a, b } = await hosts({ a: GRACES, b: GRACES });
		// Two of them: whichever host takes the first, the other one is asked to cancel it.
		const id = await add(a.client, { command: ["sleep", "600"] });
		const running = await until(async () => {
			const job = await show(a.client, id);
			return job.status === "running" ? job : undefined;
		});
		const other = running.run?.host === "a" ? b : a;
		await other.client.call("job.cancel", { id });
		const waited = await other.client.call("job.wait", { ids: [id], timeout_ms: 25_000 });
		expect(waited.jobs[0]).toMatchObject({ status: "cancelled", exit_code: 143 });
	});
});
