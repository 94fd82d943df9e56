// Reaching a database that is not there.

import { expect, test } from "vitest";
import { localHost } from "../../host/local.ts";
import { addressOf } from "./connection.ts";
import { Line } from "./line.ts";

test("is tried for as long as the patience lasts, which keeps the process alive, and then told", async () => {
	const grips: unknown[] = [];
	// No time but what is waited for, however slow the machine.
	let now = 0;
	const after: typeof localHost.after = (ms, call, grip) => {
		grips.push(grip);
		now += ms;
		return localHost.after(ms, call, grip);
	};
	const address = addressOf("postgres://me:secret@127.0.0.1:1/none");
	const line = new Line(address, { patienceMs: 200, name: "test" }, { monotonic: () => now, after });
	await expect(line.reach()).rejects.toThrow(/^postgres:\/\/me:\*\*\*@127\.0\.0\.1:1\/none cannot be reached/);
	expect(grips.length).toBeGreaterThan(1);
	expect(grips.every((grip) => grip === "hold")).toBe(true);
	expect(line.alive).toBe(undefined);
});
