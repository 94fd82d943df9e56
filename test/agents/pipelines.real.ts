// The shipped pipelines with real programs: a review that refuses, a question in the middle, a tool that a person grants, a result that the next step uses.
// Accounts allow nothing of their own here: agents have the permissions that recipes and Sluice give them.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AgentName } from "../../src/core/agents/profile.ts";
import type { Turn } from "./fake-api/turn.ts";
import { newestOf, versionsOf } from "./programs.ts";
import { bodiesOf, openStand, outputsOf, REPO, type Stand, talkOf } from "./suites/stand.ts";

const TASK = "Greet the user by name";

/** A stand with one item, `greet`, to sling. */
async function openPipeline(agent: AgentName, version = newestOf(agent)): Promise<Stand & { sling(recipe: string): Promise<number[]> }> {
	const stand = await openStand(
		{ agent, version },
		{
			allowed: "nothing",
			settings: (folder) => {
				mkdirSync(join(folder, "todo"));
				writeFileSync(join(folder, "todo", "greet.md"), `# ${TASK}\n`);
				return { sources: { todo: { kind: "folder", root: join(folder, "todo") } } };
			},
		},
	);
	const sling = async (recipe: string) => {
		const { jobs } = await stand.daemon.ask<{ jobs: number[] }>(
			"sling",
			recipe,
			"--on",
			"greet",
			"--repo",
			REPO,
			"--agent",
			agent,
			"--account",
			"a",
		);
		return jobs;
	};
	return { ...stand, sling };
}

/**
 * What the default permission does not allow, and what a person grants then: a command that Claude Code has no rule for, and no more (it refuses its freest mode to
 * root); a file outside of the folder that Codex's sandbox lets it write to.
 */
const DENIED = {
	claude: { shell: "sh greet.sh", word: "sh greet.sh", grant: "asked" },
	codex: { shell: "touch ../../../outside.txt && sh greet.sh", word: "outside.txt", grant: "full" },
} as const;

const implementation = [{ write: "greet.txt", content: "hello" }, { say: "The greeting is there." }];

type Way = { name: string; says: Turn };

/** How a run speaks of itself: by the tools of its own MCP server, or by the command, which Codex's sandbox keeps from the daemon. */
const waysOf = (agent: "claude" | "codex", tool: Way, command: Way): Way[] => (agent === "codex" ? [tool] : [tool, command]);

describe.each((["claude", "codex"] as const).map((agent) => [`${agent} ${newestOf(agent)}, pipelines`, agent] as const))(
	"%s",
	(_title, agent) => {
		const REFUSAL = "it deletes all users";

		const refusals = waysOf(
			agent,
			{ name: "the tool run_fail", says: { mcp: "run_fail", input: { text: REFUSAL } } },
			{ name: "sluice verdict fail", says: { shell: `sluice verdict fail "${REFUSAL}"` } },
		);
		test.each(refusals)("a review that says no by $name: nothing is merged", async ({ says: refusal }) => {
			const { api, daemon, repo, sling } = await openPipeline(agent);
			const base = repo.head("main");
			api.script("key-a", [...implementation, refusal], { say: "This must not be merged." });
			const [implement, review, merge] = (await sling("implement-review-merge")) as [number, number, number];
			expect(await daemon.ended(merge)).toMatchObject({ status: "blocked_by_dependency" });
			expect(await daemon.show(implement)).toMatchObject({ status: "succeeded", exit_kind: "completed" });
			expect(await daemon.show(review)).toMatchObject({ status: "failed", attempt: 1, end_reason: expect.stringContaining(REFUSAL) });
			expect(await daemon.say("why", String(review))).toContain(REFUSAL);
			expect(repo.head("main")).toBe(base);
			// Every shipped recipe tells the agent how to say no.
			expect(talkOf(api, "key-a")[implementation.length]).toContain("If it must not be merged, call the tool run_fail with the reason");
		});

		test("a question in the middle: a person answers, it goes on in its session, and all is merged", async () => {
			const { api, daemon, repo, sling } = await openPipeline(agent);
			const question = "Before I change anything: shall I greet in English or in German?";
			api.script("key-a", [], { say: question });
			const [implement, review, merge] = (await sling("implement-review-merge")) as [number, number, number];
			expect(await daemon.asks(implement)).toMatchObject({ question: expect.stringContaining(question) });
			expect(await daemon.show(review)).toMatchObject({ attempt: 0, status: "waiting_on_deps" });
			api.script("key-a", [{ write: "greet.txt", content: "hallo" }, { say: "The greeting is there." }], {
				say: "It does what was asked for.",
			});
			await daemon.say("answer", String(implement), "in German");
			expect(await daemon.merged(merge)).toMatchObject({ status: "succeeded" });
			expect(repo.git("show", "main:greet.txt")).toBe("hallo");
			expect((await daemon.outcome(implement, 2)).session).toBe((await daemon.outcome(implement, 1)).session);
			expect(bodiesOf(api, "key-a")[1]).toContain("in German");
		});

		const QUESTION = "Which greeting do you want?";
		const questions = waysOf(
			agent,
			{ name: "the tool run_ask", says: { mcp: "run_ask", input: { text: QUESTION } } },
			{ name: "sluice verdict ask", says: { shell: `sluice verdict ask "${QUESTION}"` } },
		);
		test.each(questions)("a run asks a person by $name: its job waits, and goes on with the answer", async ({ says: question }) => {
			const { api, daemon, repo, sling } = await openPipeline(agent);
			api.script("key-a", [question], { say: "I have asked." });
			const [implement, , merge] = (await sling("implement-review-merge")) as [number, number, number];
			expect(await daemon.asks(implement)).toMatchObject({ question: expect.stringContaining(QUESTION) });
			api.script("key-a", [{ write: "greet.txt", content: "hi" }, { say: "The greeting is there." }], {
				say: "It does what was asked for.",
			});
			await daemon.say("answer", String(implement), "hi");
			expect(await daemon.merged(merge)).toMatchObject({ status: "succeeded" });
			expect(repo.git("show", "main:greet.txt")).toBe("hi");
		});

		test("a tool that was denied and that a person then grants: it goes on, and all is merged", async () => {
			const { api, daemon, repo, sling } = await openPipeline(agent);
			repo.commit({ "greet.sh": "printf granted > greet.txt\n" }, "a script");
			const denied = DENIED[agent];
			api.script("key-a", [{ shell: denied.shell }], { say: "I was not allowed to run the command." });
			const [implement, , merge] = (await sling("implement-review-merge")) as [number, number, number];
			const { question } = await daemon.asks(implement);
			expect(question).toContain(denied.word);
			expect(await daemon.say("show", String(implement))).toContain(denied.word);
			api.script("key-a", [{ shell: denied.shell }, { say: "The greeting is there." }], { say: "It does what was asked for." });
			await daemon.say("answer", String(implement), "Yes, you may.", "--permission", denied.grant);
			expect(await daemon.merged(merge)).toMatchObject({ status: "succeeded" });
			expect(repo.git("show", "main:greet.txt")).toBe("granted");
			expect((await daemon.outcome(implement, 2)).session).toBe((await daemon.outcome(implement, 1)).session);
		});

		const reports = waysOf(
			agent,
			{ name: "the tool run_result", says: { mcp: "run_result", input: { result: { n: 7 } } } },
			{ name: "sluice result", says: { shell: `sluice result '{"n":7}'` } },
		);
		test.each(reports)("a run reports a result by $name, which the next step's prompt has", async ({ says: report }) => {
			const { api, daemon } = await openPipeline(agent);
			api.script("key-a", [report, { say: "counted" }], { say: "used" });
			const count = await daemon.add("a", "Count the users.", { permission: "default", flags: ["--name", "count"] });
			const use = await daemon.add("a", "Greet each of them: {{after.count.result}}", {
				permission: "default",
				flags: ["--after", "count"],
			});
			expect(await daemon.ended(use)).toMatchObject({ status: "succeeded" });
			expect(await daemon.show(count)).toMatchObject({ status: "succeeded", result: { n: 7 } });
			expect(bodiesOf(api, "key-a").at(-1)).toMatch(/Greet each of them: \{\\+"n\\+": ?7\}/);
		});
	},
);

test.each(versionsOf("codex"))(
	"codex %s: the command is found, does not reach the daemon from inside its sandbox, and says to use the tools",
	async (version) => {
		const { api, daemon } = await openPipeline("codex", version);
		api.script("key-a", [{ shell: 'sluice verdict fail "no"' }], { say: "I could not say it." });
		await daemon.ended(await daemon.add("a", "Say no.", { permission: "default" }));
		expect(outputsOf(api, "key-a")).toContain("the sandbox of this run keeps programs from the daemon: call the tool run_fail");
	},
);

test.each(versionsOf("codex"))("codex %s: without its sandbox the command is found and says no", async (version) => {
	const { api, daemon } = await openPipeline("codex", version);
	api.script("key-a", [{ shell: 'sluice verdict fail "- it deletes all users"' }], { say: "I have said it." });
	const ended = await daemon.ended(await daemon.add("a", "Say no.", { permission: "full" }));
	expect(ended).toMatchObject({ status: "failed", end_reason: "- it deletes all users" });
});
