// A night in the middle: agents that have cost something, one that writes, failures, questions, a graph that waits, limits and holds. For what shows it all.

import { Player } from "../agents/player.ts";
import { openSite, type Site } from "../daemons/site.ts";
import { makeRepository } from "../repository.ts";

export type Night = Site & {
	/** Jobs by name. */
	ids: Record<
		"parser" | "login" | "writes" | "build" | "test" | "release" | "import" | "deploy" | "colour" | "broken" | "greeting",
		number
	>;
	/** Ends what waits for a word from outside. */
	over(): Promise<void>;
};

const said = (text: string) => `${JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text }] } })}\n`;
const ran = (command: string, result: string) =>
	`${JSON.stringify({ type: "assistant", message: { content: [{ type: "tool_use", id: command, name: "Bash", input: { command } }] } })}\n${JSON.stringify(
		{ type: "user", message: { content: [{ type: "tool_result", tool_use_id: command, content: result }] } },
	)}\n`;
const cost = (dollars: number) => (text: string) => text.replaceAll("0.016724999999999997", String(dollars));

/** `pace`: how much longer the small jobs take; pictures want bars that can be seen. */
export async function openNight(pace = 1): Promise<Night> {
	const repository = makeRepository({ "greeting.txt": "hello\n" });
	const player = new Player("claude")
		.plays("claude-tool", cost(1.42))
		.plays("claude-tool", cost(0.38))
		.plays("claude-tool", cost(0.07), { before: "echo 'hello, dear reader' > greeting.txt" })
		.next({
			stdout:
				said("I will look at the schema first.") +
				ran("grep -n 'create table' db/*.sql", "db/users.sql:3:create table users (\ndb/orders.sql:3:create table orders (") +
				said("Both tables lack an index on the foreign key. I add one to each, then run the migrations.") +
				ran(
					"npm run migrate",
					"users: 3 rows\norders: 0 rows\nerror: relation “orders” has no column “user”\nat migrate.js:14\nat run.js:3\nat main.js:90",
				),
			after: "sleep 600",
		});
	const site = await openSite(
		`
max_concurrent: 6
lanes: {code: {max: 3, priority: 20}, review: {max: 2}, docs: {}}
accounts: {work: {max: 4}, spare: {}}
repos: {app: {path: ${repository.path}}}
agents: {ghost: {command: [/nonexistent/ghost]}}
environment_breaker: {failures: 2, cooldown: 1h}
`,
		{ PATH: player.path },
	);
	const { client, sh, add } = site;
	const night = { batch: "night", owner: "ann" };
	const agent = async (name: string, prompt: string, more: Record<string, unknown> = {}) => {
		const id = await add({ ...night, lane: "code", agent: "claude", account: "work", name, prompt, ...more });
		if (more.batch !== "open") await client.call("job.wait", { ids: [id] });
		return id;
	};
	const ended = async (id: number) => {
		await client.call("job.wait", { ids: [id] });
		return id;
	};
	await client.call("budget.grant", { subject: "batch:night", dim: "cost_micro", limit: 2_000_000 });
	await client.call("budget.grant", { subject: "owner:ann", dim: "runs", limit: 200, window: "day" });
	const parts = ["Lint the migrations", "Refresh the API docs", "Measure the cold start", "Add a retry to uploads", "Review request 418"];
	const short = parts.flatMap((title, at) =>
		[1, 2].map((n) =>
			sh(`sleep ${(((at * 7 + n * 5) % 9) / 10) * pace}`, {
				...night,
				batch: n === 1 ? "night" : "docs",
				title,
				lane: ["code", "docs", "review"][(at + n) % 3],
			}),
		),
	);
	await client.call("job.wait", { ids: await Promise.all(short) });
	const parser = await agent("parser", "Port the parser to streams");
	const login = await agent("login", "Find out why the login test is flaky");
	const greeting = await agent("greeting", "Be more polite in greeting.txt", { repo: "app", no_merge: true, lane: "review" });
	for (const name of ["docs", "lint"]) await ended(await sh(`sleep 0.3; echo ${name} checked`, { ...night, name, lane: "docs" }));
	const broken = await ended(await sh("echo 'expected 42 rows, found 41' >&2; exit 3", { ...night, name: "count-rows", lane: "review" }));
	for (const n of [1, 2]) await add({ agent: "ghost", prompt: "boo", name: `ghost-${n}`, lane: "review" });
	const writes = await agent("schema", "Add the missing indexes", { batch: "open" });
	const build = await sh("echo compiling; sleep 600", { ...night, name: "build", lane: "code", locks: ["db"] });
	const imports = await sh("true", { ...night, name: "import", lane: "code", locks: ["db"] });
	const test = await sh("true", { ...night, name: "test", after: [build], lane: "code" });
	await sh("true", { ...night, name: "bench", after: [build], lane: "code" });
	const release = await sh("true", { ...night, name: "release", after: [test, imports], lane: "review" });
	await sh("true", { ...night, name: "announce", after: [release], lane: "docs" });
	const deploy = await sh("true", { name: "deploy", requires_approval: true, lane: "review" });
	const colour = await add({ payload: { n: 1 }, lane: "docs", name: "logo", command: undefined });
	const { claimed } = await client.call("job.claim", { worker: "w", lanes: ["docs"] });
	await client.call("job.complete", {
		job: colour,
		token: claimed[0]!.run.token,
		exit_kind: "needs_human",
		question: "Which colour, green or blue?",
	});
	await client.call("scheduler.pause", { lane: "docs", reason: "freeze until the release" });
	for (let n = 1; n <= 4; n++) await sh("true", { name: `page-${n}`, lane: "docs", batch: "docs" });
	await client.call("account.limit", { name: "spare", retry_after_ms: 1_800_000 });
	return {
		...site,
		ids: { parser, login, writes, build, test, release, import: imports, deploy, colour, broken, greeting },
		over: async () => {
			await client.call("job.cancel", { ids: [build, writes] });
		},
	};
}
