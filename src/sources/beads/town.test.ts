// Several beads databases, as in a town: convoys in hq, beads in the rigs, all through `bd`.

import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Bead, changeBead, makeBd, makeTown } from "../../../test/make/agents/bd.ts";
import { makeSourceSettings } from "../../../test/make/agents/source.ts";
import { localHost, systemClock } from "../../host/local.ts";
import { openSources } from "../index.ts";

const bead = (id: string, more: Record<string, unknown> = {}): Bead => ({
	id,
	title: `Title of ${id}`,
	status: "open",
	priority: 2,
	issue_type: "task",
	...more,
});
const on = (type: string, ...ids: string[]) => ids.map((id) => ({ depends_on_id: id, type }));

function openTown<Name extends string>(databases: Record<Name, readonly Bead[]>, options: Parameters<typeof makeBd>[0] = {}) {
	const bd = makeBd(options);
	const roots = makeTown(databases);
	const sources = openSources({ host: localHost, clock: systemClock, env: () => ({ PATH: bd.path }) });
	sources.configure(
		Object.fromEntries(Object.entries<string>(roots).map(([name, root]) => [name, makeSourceSettings({ kind: "beads", root })])),
	);
	return { sources, roots, bd };
}

const TOWN = {
	hq: [
		bead("hq-cv-1", { issue_type: "convoy", dependencies: on("tracks", "gt-a", "external:beads:be-1", "hq-note") }),
		bead("hq-cv-2", { labels: ["gt:convoy"], dependencies: on("tracks", "gt-b") }),
		bead("hq-cv-3", { issue_type: "convoy", status: "closed", dependencies: on("tracks", "gt-c") }),
		bead("hq-epic", { issue_type: "epic" }),
		bead("hq-note"),
	],
	gt: [
		bead("gt-a"),
		bead("gt-b", { dependencies: on("blocks", "be-1") }),
		bead("gt-c"),
		bead("gt-child", { dependencies: on("parent-child", "hq-epic") }),
	],
	beads: [bead("be-1")],
};

describe.each([
	["its list has the dependencies", {}],
	["its list leaves them out", { bareList: true }],
])("a town through bd: %s", (_name, options) => {
	test("a convoy of hq holds the beads of the rigs", async () => {
		const { sources } = openTown(TOWN, options);
		expect(await sources.find("hq-cv-1")).toMatchObject({ kind: "batch", members: ["gt-a", "be-1", "hq-note"] });
		expect(await sources.find("hq-cv-2")).toMatchObject({ kind: "batch", members: ["gt-b"] });
	});

	test("an open convoy of hq is the batch of a rig's bead", async () => {
		const { sources } = openTown(TOWN, options);
		const batches = await Promise.all(["gt-a", "gt-b", "gt-c", "be-1"].map(async (id) => (await sources.find(id))?.batch));
		expect(batches).toEqual(["hq-cv-1", "hq-cv-2", null, "hq-cv-1"]);
	});

	test("an epic's children in another database are found", async () => {
		const { sources } = openTown(TOWN, options);
		expect(await sources.find("hq-epic")).toMatchObject({ kind: "epic", members: ["gt-child"] });
	});

	test("an open blocker of another database blocks, though bd ready lists the bead", async () => {
		const { sources, roots } = openTown(TOWN, options);
		expect(await sources.find("gt-b")).toMatchObject({ blocked_by: ["be-1"], eligible: false });
		changeBead(roots.beads, "be-1", { status: "closed" });
		expect(await sources.find("gt-b")).toMatchObject({ blocked_by: [], eligible: true });
	});
});

test("a bd whose dep list takes one id is asked for whole issues instead", async () => {
	const { sources } = openTown(TOWN, { bareList: true, oldDepList: true });
	expect(await sources.find("hq-cv-1")).toMatchObject({ members: ["hq-note"] });
});

describe("an issue that bd ready does not list is not ready, and the cause is named", () => {
	const LATER = "2199-01-01T00:00:00Z";
	const beads = [
		bead("gt-open"),
		bead("gt-hooked", { status: "hooked", assignee: "ann" }),
		bead("gt-busy", { status: "in_progress" }),
		bead("gt-deferred", { status: "deferred" }),
		bead("gt-until", { status: "deferred", defer_until: LATER }),
		bead("gt-later", { defer_until: LATER }),
		bead("gt-again", { defer_until: "2020-01-01T00:00:00Z" }),
		bead("gt-pin", { status: "pinned" }),
		bead("gt-pinned", { pinned: true }),
		bead("gt-gate", { issue_type: "molecule" }),
		bead("gt-odd", { status: "review" }),
		bead("gt-e", { issue_type: "epic", defer_until: LATER }),
		bead("gt-e.1", { dependencies: on("parent-child", "gt-e") }),
		bead("gt-closed", { status: "closed" }),
	];
	const EXPECTED = {
		"gt-open": { open: true, blocked_by: [] },
		"gt-hooked": { open: true, blocked_by: [], in_progress: true, taken: "hooked by ann" },
		"gt-busy": { open: true, blocked_by: [], in_progress: true, taken: "in_progress" },
		"gt-deferred": { open: true, blocked_by: [], held: "its status is deferred" },
		"gt-until": { open: true, blocked_by: [], held: "deferred until 2199-01-01T00:00:00Z" },
		"gt-later": { open: true, blocked_by: [], held: "deferred until 2199-01-01T00:00:00Z" },
		"gt-again": { open: true, blocked_by: [] },
		"gt-pin": { open: true, blocked_by: [], held: "its status is pinned" },
		"gt-pinned": { open: true, blocked_by: [], held: "pinned" },
		"gt-gate": { open: true, blocked_by: [], held: "its type is molecule" },
		"gt-odd": { open: true, blocked_by: [], held: "its status is review" },
		"gt-e.1": { open: true, blocked_by: [], held: "its parent gt-e is deferred until 2199-01-01T00:00:00Z" },
		"gt-closed": { open: false },
	};
	const probed = async (sources: ReturnType<typeof openSources>) => {
		const facts = await sources.probe(Object.keys(EXPECTED).map((id) => `item:gt:${id}`));
		return Object.fromEntries(Object.entries(facts).map(([key, value]) => [key.slice("item:gt:".length), value]));
	};

	test("through bd", async () => {
		const { sources } = openTown({ gt: beads });
		expect(await probed(sources)).toEqual(EXPECTED);
	});

	test("from the file", async () => {
		const { roots } = openTown({ gt: [] });
		writeFileSync(`${roots.gt}/.beads/issues.jsonl`, beads.map((one) => JSON.stringify(one)).join("\n"));
		const sources = openSources({ host: localHost, clock: systemClock, env: () => ({ PATH: "/nowhere" }) });
		sources.configure({ gt: makeSourceSettings({ kind: "beads", root: roots.gt }) });
		expect(await probed(sources)).toEqual(EXPECTED);
	});

	test("a cause that only bd knows is named as such", async () => {
		const { sources } = openTown({ gt: [bead("gt-a", { ephemeral: true })] });
		expect(await sources.find("gt-a")).toMatchObject({ held: "bd ready does not list it", eligible: false });
	});
});

describe("how often bd is called", () => {
	test("once for list and once for ready of each source, however many beads are looked up together", async () => {
		const { sources, bd } = openTown(TOWN);
		const find = sources.survey();
		for (const id of ["hq-cv-1", "gt-a", "gt-b", "gt-c", "be-1", "hq-note", "nope"]) await find(id);
		expect(bd.calls().sort()).toEqual(
			["beads", "gt", "hq"].flatMap((name) => [`${name} list --json --all --limit 0`, `${name} ready --json --limit 0`]),
		);
	});

	test("once more for each source where list leaves dependencies out", async () => {
		const { sources, bd } = openTown(TOWN, { bareList: true });
		const find = sources.survey();
		for (const id of ["hq-cv-1", "gt-a", "gt-b"]) await find(id);
		expect(
			bd
				.calls()
				.filter((call) => call.includes(" dep list "))
				.sort(),
		).toEqual(["gt dep list gt-b gt-b --json", "hq dep list hq-cv-1 hq-cv-2 hq-cv-3 --json"]);
		expect(bd.calls()).toHaveLength(8);
	});

	test("a survey uses one snapshot; the next survey sees changes", async () => {
		const { sources, roots } = openTown(TOWN);
		const find = sources.survey();
		expect(await find("gt-a")).toMatchObject({ status: "open" });
		changeBead(roots.gt, "gt-a", { status: "hooked" });
		expect(await find("gt-a")).toMatchObject({ status: "open" });
		expect(await sources.survey()("gt-a")).toMatchObject({ status: "hooked", in_progress: true });
	});
});

describe("write_back: status", () => {
	test("an issue that another worker has taken up meanwhile is left alone", async () => {
		const { sources, roots } = openTown({ gt: [bead("gt-a"), bead("gt-b")] });
		const source = sources.get("gt");
		expect(await source.write?.("gt-a", { status: "running" })).toEqual({ changed: true, left: null });
		expect(await source.write?.("gt-a", { status: "running" })).toEqual({ changed: false, left: null });
		changeBead(roots.gt, "gt-b", { status: "hooked", assignee: "ann" });
		expect(await source.write?.("gt-b", { status: "running" })).toEqual({ changed: false, left: "gt-b is hooked by ann" });
	});
});
