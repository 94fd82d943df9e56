// Hosts on one PostgreSQL hear of each other by its notices: what one of them is told starts work on another within a moment.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { until } from "../make/daemons/daemon.ts";
import { hosts } from "../make/daemons/host.ts";
import { type Server, startServer } from "../make/stores/postgres-server.ts";

let server: Server;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server?.end());

/** Nobody looks by himself before the test is long over. */
const QUIET = "max_concurrent: 1\npoll_interval: 1h\nstop: {grace_int: 100ms, grace_term: 300ms}\n";

const add = async (client: Client, command: string[]): Promise<number> => {
	const { job } = (await client.call("job.add", { command })) as { job: { id: number } };
	return job.id;
};
const show = async (client: Client, id: number) => (await client.call("job.show", { id })).job;

/** The only slot is taken on one, and only the other may take more. */
async function full() {
	const { a, b } = await hosts({ a: QUIET, b: QUIET }, await server.makeDatabase());
	await b.client.call("host.drain", { name: "b" });
	const first = await add(a.client, ["sleep", "600"]);
	await until(async () => (await show(a.client, first)).status === "running");
	await a.client.call("host.drain", { name: "a" });
	await b.client.call("host.undrain", { name: "b" });
	return { a, b, first };
}

describe("two hosts that wait for each other's word", () => {
	test("a cap that is raised at one starts jobs at the other", async () => {
		const { a, first } = await full();
		const more = await Promise.all([1, 2, 3].map(() => add(a.client, ["true"])));
		for (const id of more) expect((await show(a.client, id)).status).toBe("queued");

		await a.client.call("config.set", { key: "max_concurrent", value: "4" });
		await a.client.call("job.wait", { ids: more, timeout_ms: 25_000 });
		for (const id of more) expect(await show(a.client, id)).toMatchObject({ status: "succeeded", last_run: { host: "b" } });
		await a.client.call("job.cancel", { id: first });
	}, 60_000);

	test("a slot that is free at one is used by the other", async () => {
		const { b, first } = await full();
		const next = await add(b.client, ["true"]);
		await b.client.call("job.cancel", { id: first });
		await b.client.call("job.wait", { ids: [next], timeout_ms: 25_000 });
		expect(await show(b.client, next)).toMatchObject({ status: "succeeded", last_run: { host: "b" } });
	}, 60_000);
});
