// `sluice open` of a job whose worktree was removed: the line that it prints works when it is pasted, in the folder where the agent keeps its session.

import { execFileSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeRepository } from "../make/repository.ts";

const SESSION = "9b183aab-7da0-494e-85de-28f9bc391d39";
const SAID = JSON.stringify({ type: "result", subtype: "success", is_error: false, session_id: SESSION, result: "done", usage: {} });
const AGENT = {
	command: ["sh", "-c", `echo made > made.txt; echo '${SAID}'`],
	output: "claude",
	open: ["sh", "-c", 'pwd; cat made.txt; echo "session $1"', "sh", "{session}"],
};

async function town() {
	const repo = makeRepository();
	const home = new TestHome();
	home.make(JSON.stringify({ agents: { keeper: AGENT }, repos: { r: { path: repo.path } } }));
	const { client } = await home.up({ GIT_CONFIG_NOSYSTEM: "1" });
	return { repo, home, client };
}

async function addTo(client: Client, more: Record<string, unknown> = {}): Promise<number> {
	const { job } = (await client.call("job.add", { agent: "keeper", prompt: "make it", repo: "r", ...more })) as unknown as {
		job: { id: number };
	};
	return job.id;
}

/** What `open` says behind these words. */
const lineAfter = (said: string, words: string) =>
	said
		.split("\n")
		.find((line) => line.includes(words))
		?.split(words)[1] ?? "";
const paste = (line: string) => execFileSync("sh", ["-c", line], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

test("a merged job: its worktree is made again at its path, on the commit that has its work", async () => {
	const { repo, home, client } = await town();
	const id = await addTo(client);
	const path = join(home.path, "worktrees", "r", String(id));
	await until(async () => (await client.call("job.show", { id })).job.merge_status === "merged");
	await until(() => !existsSync(path));
	const { out, err } = await home.run(["open", String(id)]);
	expect(out.trim()).toBe(path);
	// Later work on the base is not what this session has seen.
	repo.write("made.txt", "changed since\n");
	repo.git("add", ".");
	repo.git("commit", "-qm", "later");
	expect(paste(lineAfter(err, "go on with it: "))).toBe(`${path}\nmade\nsession ${SESSION}\n`);
	// Now it is there, and the next look says so.
	const again = await home.run(["open", String(id)]);
	expect(again.err).toContain(`go on with it: cd ${path} && sh -c`);
	expect(again.err).not.toContain("worktree add");
	paste(lineAfter(err, "Afterwards: "));
	expect(existsSync(path)).toBe(false);
	expect(repo.git("worktree", "list")).not.toContain(path);
});

test("a job whose worktree was pruned, and one whose folder was deleted by hand: on its own branch", async () => {
	const { repo, home, client } = await town();
	const [pruned, deleted] = [await addTo(client, { no_merge: true }), await addTo(client, { no_merge: true })];
	for (const id of [pruned, deleted]) await until(async () => (await client.call("job.show", { id })).job.status === "succeeded");
	const path = (id: number) => join(home.path, "worktrees", "r", String(id));
	rmSync(path(deleted), { recursive: true });
	const gone = await home.run(["open", String(deleted)]);
	expect(paste(lineAfter(gone.err, "go on with it: "))).toBe(`${path(deleted)}\nmade\nsession ${SESSION}\n`);
	expect(await home.run(["prune"])).toMatchObject({ code: 0 });
	expect(existsSync(path(pruned))).toBe(false);
	const said = await home.run(["open", String(pruned)]);
	expect(paste(lineAfter(said.err, "go on with it: "))).toBe(`${path(pruned)}\nmade\nsession ${SESSION}\n`);
	expect(repo.git("-C", path(pruned), "branch", "--show-current")).toMatch(new RegExp(`^sluice/\\w+-${pruned}-make-it$`));
});
