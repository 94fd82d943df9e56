// Recipes on a real repository with a real daemon: the steps of a pipeline write on one branch, and the last one's success merges it.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TestHome, until } from "../make/daemon.ts";
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
