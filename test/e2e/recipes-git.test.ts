// Recipes on a real repository with a real daemon: the steps of a pipeline write on one branch, and the last one's success merges it.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";
import { makeRepository } from "../make/repository.ts";

test("implement → review → merge, slung onto a bead", { timeout: 90_000 }, async () => {
	const repo = makeRepository();
	const town = makeFolder();
	mkdirSync(join(town, ".beads"));
	writeFileSync(join(town, ".beads/issues.jsonl"), JSON.stringify({ id: "r-1", title: "Say hello", status: "open", issue_type: "task" }));
	// An agent that adds the first word of its prompt to a file.
	const agent =
		'printf "%s\\n" "$(printf %s "$1" | head -n 1 | cut -d" " -f1)" >> said.txt; git add said.txt; git -c user.name=A -c user.email=a@x commit -qm "$1"';
	const home = new TestHome();
	home.make(
		JSON.stringify({
			repos: { r: { path: repo.path, prefix: "r-", recipe: "implement-review-merge" } },
			sources: { beads: { kind: "beads", root: town } },
			agents: { claude: { command: ["/bin/sh", "-c", agent, "sh", "{prompt}"] } },
		}),
	);
	const { client } = await home.up({ GIT_CONFIG_NOSYSTEM: "1" });
	const { jobs, planned } = await client.call("job.sling", { ids: ["r-1"] });
	expect(planned.map(({ step, repo, recipe }) => [step, repo, recipe])).toEqual(
		["implement", "review", "merge"].map((step) => [step, "r", "implement-review-merge"]),
	);
	const last = await until(async () => {
		const { job } = await client.call("job.show", { id: jobs[2] as number });
		if (["failed", "cancelled", "blocked_by_dependency"].includes(job.status)) {
			const first = (await client.call("job.show", { id: jobs[0] as number })).job;
			throw new Error(`${job.end_reason}; first: ${first.status} ${first.last_failure} ${first.end_reason}`);
		}
		return job.merge_status === "merged" ? job : undefined;
	});
	expect(last).toMatchObject({ status: "succeeded", title: "Merge r-1 into r" });
	expect(repo.read("said.txt")).toBe("Implement\nReview\n");
	expect(repo.git("log", "--format=%s", "main")).toContain("Implement r-1: Say hello");
	const { batches } = await client.call("batch.list", { all: true });
	expect(batches).toMatchObject([{ total: 3, counts: { succeeded: 3 } }]);
});

test("plan → spec → phase → code on one branch: each step finds what the one before has written, and is blocked without it", {
	timeout: 90_000,
}, async () => {
	const repo = makeRepository();
	const home = new TestHome();
	// An agent that reads the file that its prompt begins with and writes the one that it asks for; the one for r-2 forgets the spec.
	const agent = `file() { printf %s "$1" | grep -o 'plans/[a-z0-9/-]*[.]md' | sed -n "$2"; }
from=$(file "$1" 1p); to=$(file "$1" '$p'); printf '%s\\n' "$from > $to" >&2
case "$1" in Plan*|Build*) ;; *) test -e "$from" || exit 7 ;; esac
case "$1" in Build*) to=built.txt ;; esac
case "$to" in plans/r-2/spec.md) exit 0 ;; esac
mkdir -p "$(dirname "$to")"; echo "from $from" > "$to"; git add .; git -c user.name=A -c user.email=a@x commit -qm "$to"`;
	home.make(
		JSON.stringify({
			preset: "loops",
			repos: { r: { path: repo.path } },
			agents: { claude: { command: ["/bin/sh", "-c", agent, "sh", "{prompt}"] } },
		}),
	);
	const { client } = await home.up({ GIT_CONFIG_NOSYSTEM: "1" });
	const add = async (item: string) => {
		const said = await home.run([
			"add",
			"--repo",
			"r",
			"--recipe",
			"plan-spec-phase-code",
			"--item",
			item,
			"--on-missing",
			"block",
			"--json",
		]);
		expect(said).toMatchObject({ code: 0 });
		return (JSON.parse(said.out) as { jobs: number[] }).jobs;
	};
	const jobs = await add("r-1");
	const show = async (id: number) => (await client.call("job.show", { id })).job;
	await until(async () => {
		for (const id of jobs) {
			const { status, end_reason, last_failure } = await show(id);
			if (["failed", "blocked_by_dependency"].includes(status)) throw new Error(`${id}: ${end_reason} ${last_failure}`);
		}
		return (await show(jobs[3] as number)).merge_status === "merged";
	});
	expect(await Promise.all(jobs.map(async (id) => (await show(id)).lane))).toEqual(["plan", "spec", "phase", "code"]);
	expect(repo.read("plans/r-1/phases.md")).toBe("from plans/r-1/spec.md\n");
	expect(repo.has("built.txt")).toBe(true);

	const [, spec = 0, phase = 0] = await add("r-2");
	await client.call("job.wait", { ids: [phase] });
	expect([(await show(spec)).status, await show(phase)]).toEqual([
		"succeeded",
		expect.objectContaining({ status: "blocked_by_dependency", end_reason: "missing file:plans/r-2/spec.md" }),
	]);
});

test("every option of sling reaches its job; a repo's own recipes count once it is trusted", { timeout: 60_000 }, async () => {
	const [repo, todo] = [makeRepository(), makeFolder()];
	repo.git("branch", "release");
	repo.commit({ "recipes/own.yml": "agent: claude\nvars: {suite: {}}\nprompt: 'Do {{item}} with {{suite}}. {{args}}'\n" });
	for (const name of ["fix", "raw"]) writeFileSync(join(todo, `${name}.md`), `# ${name} it\n`);
	const home = new TestHome();
	home.make(
		JSON.stringify({
			accounts: { paid: {} },
			repos: { r: { path: repo.path } },
			sources: { todo: { kind: "folder", root: todo } },
			agents: { claude: { command: ["true"] }, other: { command: ["true"] } },
		}),
	);
	const { client } = await home.up({ GIT_CONFIG_NOSYSTEM: "1" });
	await client.call("scheduler.pause", {});
	const sluice = (...args: string[]) => home.run(args, { cwd: todo });
	const many = [
		"--var",
		"suite=unit",
		"--args",
		"Be quick.",
		"--agent",
		"other",
		"--account",
		"paid",
		"--merge",
		"mr",
		"--base-branch",
		"release",
	];
	const line = ["sling", "own", "--on", "fix", "--repo", "r", ...many, "--mode", "ralph", "--owned", "--batch", "mine"];
	expect(await sluice(...line)).toMatchObject({ code: 3, err: expect.stringContaining('there is no recipe "own"') });
	expect((await sluice("repo", "trust", "r")).code).toBe(0);
	expect(await sluice(...line.filter((word) => !word.startsWith("suite=") && word !== "--var"))).toMatchObject({
		code: 2,
		err: expect.stringContaining("suite"),
	});
	expect(JSON.parse((await sluice(...line, "--dry-run", "--json")).out)).toMatchObject({
		jobs: [],
		planned: [{ item: "fix", recipe: "own" }],
	});
	expect((await client.call("job.list", {})).jobs).toEqual([]);
	expect((await sluice(...line)).code).toBe(0);
	expect((await sluice("sling", "raw", "r", "--raw", "--agent", "claude", "--no-merge", "--no-batch")).code).toBe(0);
	const { jobs } = await client.call("job.list", {});
	expect(jobs).toMatchObject([
		{
			item: "fix",
			repo: "r",
			recipe: "own",
			prompt: "Do fix with unit. Be quick.",
			args: "Be quick.",
			vars: { suite: "unit" },
			agent: "other",
			account: "paid",
			merge: "mr",
			base_branch: "release",
			mode: "ralph",
			batch: "mine",
			no_merge: false,
		},
		{ item: "raw", repo: "r", recipe: null, agent: "claude", no_merge: true, batch: null },
	]);
	expect(jobs[1]?.prompt).toBe("# raw it");
	expect((await client.call("batch.list", {})).batches).toMatchObject([{ name: "mine", owned: true }]);
	// Once more: both are worked on already.
	expect(JSON.parse((await sluice("sling", "fix", "raw", "r", "--json")).out)).toMatchObject({
		jobs: [],
		skipped: [{ item: "fix" }, { item: "raw" }],
	});
});
