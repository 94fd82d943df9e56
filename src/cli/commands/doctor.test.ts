// sluice doctor --store: checks a database before it is used.

import { expect, test } from "vitest";
import { openCommandLine, Refusal } from "../../../test/make/daemons/command-line.ts";
import type { DaemonCode } from "../io.ts";

test("checks from here, also while a daemon runs; anything but a database's address is refused", async () => {
	const line = await openCommandLine({ "doctor.run": { checks: [{ name: "socket", ok: true, detail: "/h/sluice.sock" }] } });
	const looked: unknown[] = [];
	const checks = [
		{ name: "socket", ok: true, detail: "no daemon is running" },
		{ name: "database", ok: false, detail: "no such database", hint: "createdb" },
	];
	const daemon = async () =>
		({
			doctor: async (home: string, store: string) => {
				looked.push([home, store]);
				return { schema_version: 1, ok: false, checks };
			},
		}) as unknown as DaemonCode;
	expect(await line.run("doctor --store postgres://h/d", { daemon })).toEqual({
		code: 1,
		out: "ok   socket    /h/sluice.sock\nBAD  database  no such database\n               → createdb\n",
		err: "",
	});
	expect(looked).toEqual([[line.home, "postgres://h/d"]]);
	expect(await line.run("doctor --store /srv/a.db", { daemon })).toMatchObject({
		code: 2,
		err: expect.stringContaining("--store must be"),
	});
	expect(line.asked.map(({ method }) => method)).toEqual(["doctor.run", "agent.list", "config.get"]);
});

test("a daemon that cannot be reached is a finding, and the other checks still run", async () => {
	const line = await openCommandLine(undefined);
	const checks = [
		{ name: "home", ok: false, detail: "no" },
		{ name: "socket", ok: true, detail: "no daemon is running" },
	];
	const daemon = async () => ({ doctor: async () => ({ schema_version: 1, ok: false, checks }) }) as unknown as DaemonCode;
	const connect = async () => {
		throw new Error("connect EACCES /h/sluice.sock");
	};
	expect(await line.run("doctor", { daemon, connect })).toEqual({
		code: 1,
		out: "BAD  home    no\nBAD  socket  connect EACCES /h/sluice.sock\n",
		err: "",
	});
});

test.each(["doctor", "doctor --store postgres://h/d"])(
	"inside a run, %s says whom it is for, and finds no fault with the socket",
	async (typed) => {
		const line = await openCommandLine({
			"doctor.run": () => {
				throw new Refusal("doctor.run is not allowed inside a job", { code: "unauthorised", hint: "jobs may add, read and wait" });
			},
		});
		expect(await line.run(typed)).toEqual({
			code: 2,
			out: "",
			err: "sluice: doctor is for the owner of this home, outside of runs\n        nothing was checked; type sluice doctor in a shell that no run has started\n",
		});
	},
);
