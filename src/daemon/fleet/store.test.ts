// Which store and which host name a daemon uses; and that a home belongs to one store.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import { bindHome, hostNameOf, storeOf } from "./store.ts";

const OWN = { host: { name: null, labels: [], lead: "may" as const } };

test("the home's own file, however it is named, is not shared", () => {
	const folder = makeFolder();
	const home = { database: join(folder, "sluice.db") };
	expect(storeOf({ store: null }, home)).toMatchObject({ at: { path: home.database }, shared: false });
	expect(storeOf({ store: `${folder}/../${folder.split("/").at(-1)}/sluice.db` }, home).shared).toBe(false);
	expect(storeOf({ store: join(folder, "fleet.db") }, home)).toMatchObject({ at: { path: join(folder, "fleet.db") }, shared: true });
	expect(storeOf({ store: "postgres://ann:s3cret@db/x" }, home)).toMatchObject({
		at: { url: "postgres://ann:s3cret@db/x" },
		shared: true,
		shown: "postgres://ann:***@db/x",
		secrets: ["s3cret", "s3cret"],
	});
});

test("a host's name: as it is set, else the machine's for a shared store", () => {
	const [shared, alone] = [true, false].map((shared) => ({ at: { path: "/x" }, shared, shown: "", secrets: [] }));
	if (!shared || !alone) throw new Error("both are there");
	expect(hostNameOf(OWN, alone, "mill-3.example.org")).toBe("local");
	expect(hostNameOf(OWN, shared, "mill-3.example.org")).toBe("mill-3");
	expect(hostNameOf(OWN, shared, "Ann's laptop")).toBe("Ann-s-laptop");
	expect(hostNameOf(OWN, shared, "…")).toBe("host");
	expect(hostNameOf({ host: { name: "big", labels: [], lead: "may" as const } }, shared, "mill")).toBe("big");
});

test("a home with runs of one store is refused another", async () => {
	const path = makeFolder();
	const home = { path, runs: join(path, "runs") };
	mkdirSync(home.runs);
	const [a, b] = ["/a.db", "/b.db"].map((shown) => ({ at: { path: shown }, shared: true, shown, secrets: [] }));
	if (!a || !b) throw new Error("both are there");
	await bindHome(home, a, async () => "one");
	await bindHome(home, b, async () => "two");
	mkdirSync(join(home.runs, "7"));
	await bindHome(home, b, async () => "two");
	await expect(bindHome(home, a, async () => "one")).rejects.toMatchObject({
		code: "conflict",
		message: expect.stringContaining("(/b.db)"),
	});
	// The hint names the option that the caller left out.
	await expect(bindHome(home, { ...a, shared: false }, async () => "own")).rejects.toMatchObject({
		code: "conflict",
		hint: expect.stringContaining("sluice up --store /b.db"),
	});
	// A home from before the file `store` existed keeps its own store.
	writeFileSync(join(path, "store"), "");
	await bindHome(home, { ...a, shared: false }, async () => "own");
	await bindHome(home, { ...a, shared: false }, async () => "made-anew");
});
