// Text from outside that would keep a careless daemon busy for good: it is answered, and the daemon answers the next call.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";

test("a recipe whose pattern makes a backtracking engine try every split, and a configuration of 80,000 keys", async () => {
	const home = new TestHome();
	home.make();
	const { client } = await home.up();
	const recipe = `vars: { a: { default: "${"a".repeat(60)}!", pattern: "(a+)+" } }\nagent: claude\nprompt: "{{a}}"\n`;
	const { ok, problems } = await client.call("recipe.check", { text: recipe });
	expect(ok).toBe(false);
	expect(problems[0]?.message).toContain("(a+)+");
	expect((await client.call("scheduler.status", {})).paused).toBe(false);
	const config = Array.from({ length: 80_000 }, (_, n) => `k${n}: 1`).join("\n");
	expect((await client.call("config.check", { text: config })).ok).toBe(false);
	expect((await client.call("scheduler.status", {})).paused).toBe(false);
});

test("FIFOs among cards: they are named, the other sources are read, and the daemon stops", async () => {
	const root = makeFolder();
	const backlog = join(root, "cards", "phase-1-x", "backlog");
	mkdirSync(backlog, { recursive: true });
	for (let n = 1; n <= 5; n++) execFileSync("mkfifo", [join(backlog, `F-${n}-x.md`)]);
	mkdirSync(join(root, "todo"));
	writeFileSync(join(root, "todo", "one.md"), "Do it.\n");
	const home = new TestHome();
	home.make(
		JSON.stringify({
			sources: { cards: { kind: "cards", root: join(root, "cards") }, todo: { kind: "folder", root: join(root, "todo") } },
		}),
	);
	const { client, child } = await home.up();
	const cards = await client.call("source.show", { name: "cards" });
	expect(cards.source.faults.filter(({ message }) => message.includes("is not a plain file"))).toHaveLength(5);
	const todo = await client.call("source.show", { name: "todo" });
	expect(todo.items.map(({ id }) => id)).toEqual(["one"]);
	await client.call("scheduler.down", {});
	await until(() => child.exitCode !== null);
});
