// sluice host: what it sends to the daemon, and what it prints.

import { expect, test } from "vitest";
import { ago, job, openCommandLine } from "../../../test/make/daemons/command-line.ts";

const HOST = {
	name: "mill",
	state: "draining",
	labels: ["gpu"],
	repos: null,
	running: 1,
	max: 2,
	heartbeat_at: ago(2000),
	joined_at: ago(60_000),
	lease_until: ago(-598_000),
	drain: { by: "ann", at: ago(5000), reason: "a new disk" },
	gone: null,
	leads: false,
};

test("show: the host and what runs there", async () => {
	const line = await openCommandLine({ "host.show": { host: HOST, jobs: [job(7, { name: "build" })] } });
	expect((await line.run("host show mill")).out).toBe(
		`host        mill
state       draining
labels      gpu
repos       all
running     1 of 2
seen        2s ago
joined      1m ago
lease ends  in 10m
drained     by ann, 5s ago: a new disk
runs        job 7 (build)
`,
	);
	expect(JSON.parse((await line.run("host show mill --json")).out).host).toEqual(HOST);
});

test.each([
	["host drain mill", { name: "mill" }, { host: HOST, stopping: [] }, "host mill starts nothing more; one run there goes on"],
	[
		"host drain mill --stop --reason disk",
		{ name: "mill", stop: true, reason: "disk" },
		{ host: HOST, stopping: [7, 9] },
		"host mill starts nothing more; 2 runs are being stopped",
	],
	["host undrain mill", { name: "mill" }, { host: { ...HOST, state: "live" } }, "host mill starts jobs again"],
	["host undrain mill", { name: "mill" }, { host: { ...HOST, state: "gone" } }, "host mill is no longer drained; it is gone"],
	["host remove mill", { name: "mill" }, { removed: "mill" }, "host mill is forgotten"],
])("%s", async (words, params, document, said) => {
	const method = words.split(" ").slice(0, 2).join(".");
	const line = await openCommandLine({ [method]: document });
	const { err, code } = await line.run(words);
	expect([code, err.trim()]).toEqual([0, said]);
	expect(line.asked).toEqual([{ method, params }]);
});

test("list: one of them leads", async () => {
	const live = { ...HOST, state: "live", drain: null };
	const line = await openCommandLine({
		"host.list": {
			hosts: [
				{ ...live, leads: true },
				{ ...live, name: "kiln" },
			],
		},
	});
	const { out } = await line.run("host list");
	expect(out).toMatch(/^mill +live, leads /m);
	expect(out).toMatch(/^kiln +live {2}/m);
});

test("a name is missing, or an option is unknown", async () => {
	const line = await openCommandLine({});
	expect((await line.run("host drain")).code).toBe(2);
	expect((await line.run("host undrain mill --stop")).code).toBe(2);
	expect(line.asked).toEqual([]);
});

test("completion offers names", async () => {
	const line = await openCommandLine({ "host.list": { hosts: [HOST] } });
	expect((await line.run("__complete host")).out).toBe("mill\tdraining, 1 running\n");
});
