// Outside workers over RPC: they claim payload jobs, keep and complete them.

import { describe, expect, test } from "vitest";
import { openDesk } from "../../../test/make/daemons/served.ts";

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe("workers outside", () => {
	test("claim payload jobs only, keep them, complete them; a stale token is refused", async () => {
		const desk = await openDesk();
		await desk.t.add({ command: ["true"] });
		await desk.t.add({ payload: { n: 1 }, env: { API_KEY: "s3cret" } });
		const { claimed } = await desk.call("job.claim", { worker: "w1", max: 9 });
		expect(claimed).toMatchObject([
			{ job: { id: 2, env: { API_KEY: "***" } }, spec: { payload: { n: 1 } }, run: { id: "2.1", worker: "w1" } },
		]);
		const token = claimed[0]?.run.token as number;
		expect(await desk.call("job.extend", { job: 2, token })).toEqual({
			schema_version: 1,
			cancel_requested: false,
			lease_until: expect.stringMatching(TIME),
		});
		expect(await desk.refused("job.complete", { job: 2, token: token + 1, exit_kind: "completed" })).toMatchObject({
			code: -32009,
			data: { code: "fenced" },
		});
		expect(await desk.call("job.complete", { job: 2, token, exit_kind: "completed", exit_code: 0, usage: { tokens: 5 } })).toEqual({
			schema_version: 1,
			job: 2,
			status: "succeeded",
			retry_at: null,
		});
		expect(await desk.refused("job.complete", { job: 2, token, exit_kind: "well" })).toMatchObject({ data: { field: "exit_kind" } });
		expect(await desk.refused("job.complete", { job: 2, token, exit_kind: "failed", mesage: "x" })).toMatchObject({
			data: { code: "unknown_key" },
		});
	});
});
