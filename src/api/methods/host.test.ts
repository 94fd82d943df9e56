// The methods of hosts, as a caller sees them.

import { expect, test } from "vitest";
import { openDesk } from "../../../test/make/daemons/served.ts";

test("drain and undrain record the person and the reason", async () => {
	const desk = await openDesk();
	const { host, stopping } = await desk.call("host.drain", { name: "local", reason: "a new disk" });
	expect([host.state, host.drain?.reason, stopping]).toEqual(["draining", "a new disk", []]);
	expect((await desk.call("host.show", { name: "local" })).host.state).toBe("draining");
	expect((await desk.call("host.list", {})).hosts.map(({ name, state }) => [name, state])).toEqual([["local", "draining"]]);
	expect((await desk.call("host.undrain", { name: "local" })).host).toMatchObject({ state: "live", drain: null });
});

test("a live host is not removed; an unknown name is refused with the nearest one", async () => {
	const desk = await openDesk();
	expect(await desk.refused("host.remove", { name: "local" })).toMatchObject({ code: -32009, data: { code: "conflict" } });
	for (const method of ["host.show", "host.drain", "host.undrain", "host.remove"] as const)
		expect(await desk.refused(method, { name: "locale" })).toMatchObject({
			code: -32004,
			data: { code: "not_found", hint: 'did you mean "local"?' },
		});
});
