// Questions, denials and grants under a real daemon, in a real repository: programs that play what the real ones were recorded to print.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { CAPTURES } from "../make/agents/capture.ts";
import { Player } from "../make/agents/player.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeRepository } from "../make/repository.ts";

async function stage(player: Player, more = "") {
	const home = new TestHome();
	const repo = makeRepository();
	home.make(
		`max_concurrent: 1\naccounts: { work: {} }\nrate_limit: { margin: 100ms, stagger: 0s }\nrepos:\n  app: { path: ${repo.path}${more} }\n`,
	);
	return { home, repo, ...(await home.up({ PATH: player.path })) };
}
const show = async (client: Client, id: number) => (await client.call("job.show", { id })).job;
const add = async (client: Client, input: Record<string, unknown> = {}): Promise<number> => {
	const result = await client.call("job.add", { agent: "claude", prompt: "the task", repo: "app", ...input });
	if (result.outcome !== "queued") throw new Error(JSON.stringify(result));
	return (result.job as { id: number }).id;
};
const asks = (client: Client, id: number) =>
	until(async () => {
		const job = await show(client, id);
		if (job.ended_at !== null) throw new Error(JSON.stringify(job));
		return job.question === null ? undefined : job;
	});
const ends = (client: Client, id: number) =>
	until(async () => {
		const job = await show(client, id);
		if (job.question !== null) throw new Error(JSON.stringify(job));
		return job.ended_at === null ? undefined : job;
	});

test("a question at the end of nothing waits for a person; the answer goes on with it", async () => {
	const player = new Player("claude").plays("claude326-question").plays("claude326-question", undefined, { before: "echo hi > made.txt" });
	const { client, repo } = await stage(player);
	const id = await add(client);
	expect((await asks(client, id)).question).toMatch(/Which of the two should the health endpoint be on\?$/);
	await client.call("job.answer", { id, text: "TCP" });
	// It asks again, but has done something now: that is success, and the question is kept.
	expect(await ends(client, id)).toMatchObject({
		status: "succeeded",
		closing_question: "Which of the two should the health endpoint be on?",
	});
	await until(async () => (await show(client, id)).merge_status === "merged");
	expect(repo.has("made.txt")).toBe(true);
	expect(player.argv(2)).toContain("--resume");
});

test("a change counts whichever run of the job made it, and is missed where it was expected", async () => {
	const limit = `sed "s/\\"resetsAt\\":[0-9]*/\\"resetsAt\\":$(($(date +%s) + 1))/g" '${join(CAPTURES, "claude325-limit1", "stdout")}'`;
	const commit = "git add -A && git -c user.name=a -c user.email=a@b commit -qm made";
	const player = new Player("claude")
		.next({ before: `echo hi > made.txt && ${commit} && ${limit}`, code: 1 })
		.plays("claude326-question")
		.plays("claude-ok")
		.plays("claude-ok");
	const { client } = await stage(player);
	const id = await add(client, { account: "work" });
	expect(await ends(client, id)).toMatchObject({ status: "succeeded", attempt: 2 });
	const other = await add(client, { expect: "change" });
	expect((await asks(client, other)).question).toMatch(/^it changed nothing, though a change was expected; its last words:/);
	// A person has seen it: without a change it may end now.
	await client.call("job.answer", { id: other, text: "leave it as it is" });
	expect(await ends(client, other)).toMatchObject({ status: "succeeded", attempt: 2 });
});

test("what was denied is told of a job that was merged; what a person grants reaches the program", async () => {
	const player = new Player("claude")
		.plays("claude326-denied", undefined, { before: "echo hi > made.txt" })
		.plays("claude326-denied")
		.plays("claude326-denied", undefined, { before: "echo hi > more.txt" });
	const { client, home } = await stage(player, ", verify: [test, -f, README.md], allow: [npm run lint]");
	const merged = await add(client);
	expect(await ends(client, merged)).toMatchObject({ status: "succeeded", denied: ["Bash: python3 -m pytest -q"] });
	const run = async (...words: string[]) => (await home.run(words)).out;
	expect(await run("list", "--all")).toContain("was not allowed Bash: python3 -m pytest -q");
	expect(await run("show", String(merged))).toMatch(/not allowed +Bash: python3 -m pytest -q/);
	expect(await run("status")).toContain(`job ${merged} was not allowed Bash: python3 -m pytest -q\n  → sluice show ${merged}\n`);
	const id = await add(client, { allow: ["make lint"] });
	expect((await asks(client, id)).question).toMatch(/^it was not allowed to:\n- Bash: python3 -m pytest -q/);
	const answered = await home.run(["answer", String(id), "--permission", "asked"]);
	expect(answered.err).toContain("goes on, and may now run: python3 -m pytest -q");
	expect(await ends(client, id)).toMatchObject({ status: "succeeded", granted: { allow: ["Bash: python3 -m pytest -q"] } });
	const allowed = (start: number) => player.argv(start).filter((word) => /git|test|lint|pytest/.test(word));
	expect(allowed(2)).toEqual(
		expect.arrayContaining(["git commit", "test -f README.md", "npm run lint", "make lint"].map((one) => `--allowedTools=Bash(${one}:*)`)),
	);
	expect(allowed(2)).not.toContain("--allowedTools=Bash(python3 -m pytest -q:*)");
	expect(allowed(3)).toContain("--allowedTools=Bash(python3 -m pytest -q:*)");
});

test("the approve step shows what the branch of its pipeline has", async () => {
	const player = new Player("claude").plays("claude-ok", undefined, { before: "echo hi > made.txt" });
	const { client, home } = await stage(player);
	const added = await client.call("job.add", { recipe: "materialize-approve-review-merge", item: "x-1", title: "T", repo: "app" });
	const [materialize, approve] = (added as { jobs: number[] }).jobs as [number, number];
	await ends(client, materialize);
	const diff = await home.run(["diff", String(approve)]);
	expect(diff.out).toContain("+++ b/made.txt");
	expect(diff.err).toContain(`job ${approve} has not started; its branch has:`);
});

test.each([
	[", verify: [test, -f, README.md]", "Run `test -f README.md`, which you may, and mend what it finds"],
	["", "Run the tests that you may run without asking."],
])("a shipped recipe says how to test in a repo with%s", async (more, words) => {
	const player = new Player("claude").plays("claude-ok", undefined, { before: "echo hi > made.txt" });
	const { client, home } = await stage(player, more);
	const added = await client.call("job.add", { recipe: "work", item: "x-1", title: "T", repo: "app" });
	const { id } = (added as unknown as { job: { id: number } }).job;
	await ends(client, id);
	const prompt = readFileSync(join(home.path, "runs", String(id), "1", "prompt.md"), "utf8");
	expect(prompt).toContain(words);
	expect(prompt).toContain("What you leave uncommitted is committed when you end.");
});
