// 001 through `bd`, with a real daemon: convoys in hq that track the beads of rigs, what is no longer ready, prefixes, repos and branches that are not
// there. `bd` is a stand-in that behaves as its source says (test/make/agents/bd.ts).

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Bead, changeBead, makeBd, makeTown, readBeads, type StandIn } from "../make/agents/bd.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";
import { makeRepository } from "../make/repository.ts";

const bead = (id: string, more: Record<string, unknown> = {}): Bead => ({
	id,
	title: `Title of ${id}`,
	status: "open",
	priority: 2,
	issue_type: "task",
	...more,
});
const on = (type: string, ...ids: string[]) => ids.map((id) => ({ depends_on_id: id, type }));

const BEADS = {
	hq: [
		bead("hq-cv-abc", { labels: ["gt:convoy"], dependencies: on("tracks", "gt-a", "external:beads:be-1", "hq-note") }),
		bead("hq-epic", { issue_type: "epic" }),
		bead("hq-note"),
	],
	gastown: [bead("gt-a"), bead("gt-b"), bead("gt-c"), bead("gt-child", { dependencies: on("parent-child", "hq-epic") }), bead("xx-1")],
	beads: [bead("be-1")],
};

class Town {
	readonly home = new TestHome();
	readonly bd: StandIn = makeBd();
	readonly roots = makeTown(BEADS);
	readonly ran = join(makeFolder(), "ran");
	readonly repo = makeRepository();

	constructor(config: string[], more: { write_back?: boolean; command?: string; poll?: string } = {}) {
		const status = more.write_back ? ", write_back: status" : "";
		this.home.make(
			[
				"preset: town",
				`poll_interval: ${more.poll ?? "50ms"}`,
				...config,
				`repos: {gastown: {prefix: gt-, path: ${this.repo.path}}, beads: {prefix: be-}}`,
				"sources:",
				...Object.entries(this.roots).map(([name, root]) => `  ${name}: {kind: beads, root: ${root}${status}}`),
			].join("\n"),
		);
		mkdirSync(join(this.home.path, "recipes"));
		const command = ["/bin/sh", "-c", more.command ?? 'echo "$1" >> "$2"', "sh", "{{item}}", this.ran];
		writeFileSync(join(this.home.path, "recipes/work.yml"), JSON.stringify({ description: "Says what it does.", command, no_merge: true }));
	}

	up = () => this.home.up({ PATH: `${this.bd.path}:${process.env.PATH}` });
	sluice = (...args: string[]) => this.home.run(args);
	lines = () => (existsSync(this.ran) ? readFileSync(this.ran, "utf8").trim().split("\n") : []);
}

describe("beads through bd", { timeout: 120_000 }, () => {
	test("a convoy of hq brings the beads of the rigs; a bead that it tracks joins its batch; an epic's child in a rig is found", async () => {
		const town = new Town(["max_concurrent: -1"]);
		await town.up();
		town.bd.forget();
		const said = await town.sluice("sling", "hq-cv-abc", "--dry-run", "--json");
		expect(JSON.parse(said.out)).toMatchObject({
			planned: [
				{ item: "gt-a", repo: "gastown", batch: "hq-cv-abc" },
				{ item: "be-1", repo: "beads", batch: "hq-cv-abc" },
			],
			skipped: [{ item: "hq-note" }],
		});
		expect(
			town.bd
				.calls()
				.filter((call) => call.startsWith("hq "))
				.slice(0, 2),
		).toEqual(["hq list --json --all --limit 0", "hq ready --json --limit 0"]);
		expect(town.bd.calls().length).toBeLessThanOrEqual(6);
		expect(JSON.parse((await town.sluice("sling", "gt-a", "gastown", "--dry-run", "--json")).out)).toMatchObject({
			planned: [{ item: "gt-a", batch: "hq-cv-abc" }],
		});
		expect(JSON.parse((await town.sluice("sling", "hq-epic", "--dry-run", "--json")).out)).toMatchObject({
			planned: [{ item: "gt-child", repo: "gastown", batch: "hq-epic" }],
		});
		expect((await town.sluice("sling", "hq-cv-abc")).err).toContain("2 jobs added in batch hq-cv-abc");
		await until(() => town.lines().sort().join(" ") === "be-1 gt-a");
		// A recipe without a title: a row shows the bead and its title.
		expect((await town.sluice("list", "--all")).out).toContain("gt-a: Title of gt-a");
	});

	test("a bead that another worker hooks after it was slung is not started, and why says so; free again, it starts", async () => {
		const town = new Town(["max_concurrent: 5", "cycle_interval: 0s", "batch_size: 0"]);
		await town.up();
		await town.sluice("pause");
		await town.sluice("sling", "gt-a", "gt-b", "gt-c", "gastown");
		changeBead(town.roots.gastown, "gt-a", { status: "hooked", assignee: "ann" });
		changeBead(town.roots.gastown, "gt-b", { status: "deferred", defer_until: "2199-01-01T00:00:00Z" });
		changeBead(town.roots.gastown, "gt-c", { status: "closed" });
		const why = async (id: string) => (await town.sluice("why", id)).out;
		await until(async () => (await why("1")).includes("item gastown:gt-a is in progress elsewhere: hooked by ann"));
		await until(async () => (await why("2")).includes("item gastown:gt-b is not ready: deferred until 2199-01-01T00:00:00Z"));
		await until(async () => (await town.sluice("show", "3")).out.includes("item_closed"));
		await town.sluice("resume");
		changeBead(town.roots.gastown, "gt-a", { status: "open" });
		await until(() => town.lines().join() === "gt-a");
	});

	test("right before a run its bead is looked at once more: closed or put off since the last look, nothing is started", async () => {
		const town = new Town(["max_concurrent: 5", "cycle_interval: 0s", "batch_size: 0"], { write_back: true, poll: "1h" });
		const { client } = await town.up();
		await town.sluice("pause");
		await town.sluice("sling", "gt-a", "gt-b", "gt-c", "gastown");
		changeBead(town.roots.gastown, "gt-a", { status: "closed" });
		changeBead(town.roots.gastown, "gt-b", { status: "deferred" });
		await town.sluice("resume");
		await until(() => town.lines().join() === "gt-c");
		const job = async (id: number) => (await client.call("job.show", { id })).job;
		await until(async () => (await job(1)).status === "cancelled" && (await job(2)).status === "waiting_on_deps");
		expect(await job(1)).toMatchObject({ end_reason: "item_closed" });
		expect(await job(2)).toMatchObject({ failures: 0, wait_reason: { detail: "item gastown:gt-b is not ready: its status is deferred" } });
		// The next run is told of no run before it: there was none.
		expect(existsSync(join(town.home.path, "runs/2/1/outcome.json"))).toBe(false);
		expect(readBeads(town.roots.gastown).filter(({ id }) => id === "gt-a" || id === "gt-b")).toMatchObject([
			{ status: "closed" },
			{ status: "deferred" },
		]);
	});

	test("what Sluice itself has set to in_progress does not hold back a retry", async () => {
		const town = new Town(["max_concurrent: 5", "cycle_interval: 0s", "batch_size: 0"], {
			write_back: true,
			command: 'echo "$1" >> "$2"; [ "$(wc -l < "$2")" -gt 1 ]',
		});
		const { client } = await town.up();
		await town.sluice("sling", "gt-a", "gastown");
		await until(async () => (await client.call("job.show", { id: 1 })).job.status === "failed");
		await until(() => town.bd.calls().includes("gastown update gt-a --status open --json"));
		// An agent takes its bead up itself, and dies.
		changeBead(town.roots.gastown, "gt-a", { status: "in_progress" });
		expect((await town.sluice("retry", "1")).code).toBe(0);
		await until(async () => (await client.call("job.show", { id: 1 })).job.status === "succeeded");
		await until(() => readBeads(town.roots.gastown).find(({ id }) => id === "gt-a")?.status === "closed");
	});

	test("a prefix of no repo, a mistyped repo and a branch that is not there are refused, and nothing is added", async () => {
		const town = new Town(["max_concurrent: -1"]);
		await town.up();
		const refused = async (...args: string[]) => {
			const { code, err } = await town.sluice(...args);
			return [code, err];
		};
		expect(await refused("sling", "xx-1")).toEqual([
			3,
			expect.stringContaining('xx-1: no repo has the prefix "xx-"; known: gt- (gastown), be- (beads)'),
		]);
		expect(await refused("sling", "gt-a", "gastow")).toEqual([
			3,
			expect.stringMatching(/"gastow" is neither an item nor a repo\n.*did you mean the repo "gastown"\?/),
		]);
		expect(await refused("sling", "gt-a", "gastown", "--base-branch", "mian")).toEqual([
			3,
			expect.stringMatching(/--base-branch: repo gastown has no branch "mian"\n.*did you mean "main"\?/),
		]);
		expect(await refused("add", "--repo", "gastown", "--base-branch", "mian", "--", "true")).toEqual([
			3,
			expect.stringContaining('repo gastown has no branch "mian"'),
		]);
		changeBead(town.roots.gastown, "gt-c", { status: "hooked", assignee: "ann" });
		expect(await refused("sling", "gt-c")).toEqual([
			2,
			expect.stringMatching(/gt-c is in progress elsewhere: hooked by ann\n.*take it over: sluice sling gt-c --force/),
		]);
		expect((await refused("sling", "gt-a", "--recipe", "zzzzzzzzzz"))[1]).toMatch(/known: (?!.*\bwork\b.*\bwork\b)/);
		expect(JSON.parse((await town.sluice("list", "--all", "--json")).out).jobs).toEqual([]);
	});

	test("where no repo has a prefix, a bead is worked on in the folder of its database, wherever it was slung from", async () => {
		const town = new Town(["max_concurrent: -1"], { command: 'pwd >> "$2"' });
		writeFileSync(
			join(town.home.path, "config.yml"),
			["preset: town", "sources:", `  gastown: {kind: beads, root: ${town.roots.gastown}}`].join("\n"),
		);
		await town.up();
		expect((await town.home.run(["sling", "gt-a"], { cwd: makeFolder() })).code).toBe(0);
		await until(() => town.lines()[0] === town.roots.gastown);
	});
});
