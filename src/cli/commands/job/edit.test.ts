// sluice edit: what options send, and what an editor's file becomes.

import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { job, openCommandLine, Refusal } from "../../../../test/make/daemons/command-line.ts";

const FIELDS = {
	name: "n",
	command: ["echo", "a: b", "\u001b[31m"],
	prompt: "first line\nsecond line: with # marks\n",
	lane: "default",
	timeout: 5_400_000,
	env: { API_KEY: "***", A: "1" },
};
type Params = { set?: Record<string, unknown>; unset?: string[] };
const answers = {
	"job.edit": ({ set = {}, unset = [] }: Params) => ({
		job: job(7, { name: "n" }),
		changed: [...Object.keys(set), ...unset],
		fields: FIELDS,
	}),
};
const opened = () => openCommandLine(answers as never);

describe("by options", () => {
	test.each([
		["edit 7 --lane slow --priority 5", { set: { lane: "slow", priority: 5 }, unset: [] }],
		["edit n --after 3 --after x:any --unset deadline", { set: { after: [3, "x:any"] }, unset: ["deadline"] }],
		[
			"edit 7 --unset needs-approval --unset lock --unset at --unset host_labels",
			{ set: {}, unset: ["requires_approval", "locks", "runnable_at", "host_labels"] },
		],
		[
			"edit 7 --in 1h --deadline 2h --retries 0 --uses build:2",
			{
				set: {
					retry: 0,
					runnable_at: "2030-01-31T13:00:00.000Z",
					deadline: expect.stringContaining("2030-01-31T14:00:00"),
					uses: { build: 2 },
				},
				unset: [],
			},
		],
		["edit 7 -- make test", { set: { command: ["make", "test"] }, unset: [] }],
		["edit 7 again --cwd sub", { set: { prompt: "again", cwd: expect.stringMatching(/\/sub$/) }, unset: [] }],
		[
			"edit 7 --unique k:replace --unique-for 1m --if clean_worktree",
			{ set: { unique: { key: "k", policy: "replace", window_ms: 60_000 }, conditions: ["clean_worktree"] }, unset: [] },
		],
	])("%s", async (line, change) => {
		const cli = await opened();
		expect(await cli.run(line)).toMatchObject({ code: 0, out: "", err: expect.stringMatching(/^job 7 \(n\) changed: /) });
		expect(cli.asked).toEqual([{ method: "job.edit", params: { id: line.startsWith("edit n") ? "n" : 7, ...change } }]);
	});

	test("--env adds to what the job has", async () => {
		const cli = await opened();
		await cli.run("edit 7 --env B=2 --env A=3");
		expect(cli.asked.at(-1)?.params).toEqual({ id: 7, set: { env: { API_KEY: "***", A: "3", B: "2" } }, unset: [] });
	});

	test("mistakes", async () => {
		const cli = await opened();
		const bad = async (line: string) => (await cli.run(line)).err;
		expect(await bad("edit")).toContain("edit: which job?");
		expect(await bad("edit 7 --item x")).toContain("it stays as it was added");
		expect(await bad("edit 7 --hold")).toContain("sluice hold ID");
		expect(await bad("edit 7 --priority high")).toContain("--priority must be a whole number");
		expect(await bad("edit 7 --")).toContain("nothing stands after --");
		expect(await bad("edit 7")).toContain("nothing to change");
		expect(cli.asked).toEqual([]);
	});

	test("nothing changed, JSON, a refusal in the words of options", async () => {
		const cli = await openCommandLine({ "job.edit": { job: job(7), changed: [], fields: {}, warning: "no program \u001b[31mx" } });
		expect(await cli.run("edit 7 --lane default")).toMatchObject({ err: "nothing changed in job 7\nwarning: no program x\n" });
		expect(JSON.parse((await cli.run("edit 7 --lane default --json")).out)).toMatchObject({ changed: [], job: { id: 7 } });
		const wrong = await openCommandLine({
			"job.edit": () => {
				throw new Refusal("runnable_at: is not a time", { code: "invalid", field: "runnable_at" });
			},
		});
		expect(await wrong.run("edit 7 --in 1s")).toMatchObject({ code: 2, err: "sluice: --at: is not a time\n" });
	});
});

describe("in an editor", () => {
	const edit = async (change: (file: string, turn: number) => void, more: { terminal?: boolean; refuse?: number } = {}) => {
		const files: string[] = [];
		let left = more.refuse ?? 0;
		const cli = await openCommandLine({
			"job.edit": (params) => {
				if (Object.keys(params).length > 1 && left-- > 0)
					throw new Refusal('lane: there is no lane "x\u202e"', { code: "not_found", field: "lane", hint: "known: default" });
				return answers["job.edit"](params as Params) as never;
			},
		});
		const stdin = Object.assign((async function* () {})(), { isTTY: more.terminal ?? false });
		const openEditor = async (command: string, file: string) => {
			expect(command).toBe("ed -s");
			files.push(readFileSync(file, "utf8"));
			change(file, files.length);
			return files.length > 5 ? 1 : 0;
		};
		const env = { PATH: "/bin", EDITOR: "ed -s" };
		const result = await cli.run("edit 7", { env, openEditor, stdin });
		return { ...result, files, sent: cli.asked.map(({ params }) => params).slice(1) };
	};
	const replace = (from: string | RegExp, to: string) => (file: string) =>
		writeFileSync(file, readFileSync(file, "utf8").replace(from, to));

	test("shows each field with its meaning; only what was changed is sent", async () => {
		const { files, sent, err } = await edit(replace(/^lane: default$/m, "lane: slow\ndeadline: 2030-02-01T00:00:00Z"));
		expect(files[0]).toContain("# The class of work it belongs to.\nlane: default\n");
		expect(files[0]).toContain("timeout: 1h30m\n");
		expect(files[0]).toContain("prompt: |\n  first line\n");
		expect(files[0]).toMatch(/^# {3}deadline: {9} Expires/m);
		expect(files[0]).not.toContain("\u001b");
		expect(files[0]).not.toMatch(/^#?\s*(?:item|recipe|vars|trigger):/m);
		expect(sent).toEqual([{ id: 7, set: { lane: "slow", deadline: "2030-02-01T00:00:00Z" }, unset: [] }]);
		expect(err).toBe("job 7 (n) changed: lane, deadline\n");
	});

	test("a field that is taken out is unset", async () => {
		expect((await edit(replace(/^timeout: .*$/m, ""))).sent).toEqual([{ id: 7, set: {}, unset: ["timeout"] }]);
	});

	test("an unchanged or an empty file, or one with other comments, changes nothing", async () => {
		for (const change of [() => {}, (file: string) => writeFileSync(file, " \n"), (file: string) => appendFileSync(file, "# a note\n")]) {
			const { sent, err, code } = await edit(change);
			expect([sent, err, code]).toEqual([[], "nothing changed in job 7 (n)\n", 0]);
		}
	});

	test("at a terminal a mistake opens it again, with the mistake on top and the person's text below", async () => {
		const { files, sent, code } = await edit(
			(file, turn) => replace(turn === 1 ? "lane: default" : "lane: x", turn === 1 ? "lane: x" : "lane: slow")(file),
			{ terminal: true, refuse: 1 },
		);
		expect(files[1]).toMatch(/^#! lane: there is no lane "x"\n#! known: default\n# job 7/);
		expect(files[1]).toContain("lane: x\n");
		expect(sent.at(-1)).toEqual({ id: 7, set: { lane: "slow" }, unset: [] });
		expect(code).toBe(0);
	});

	test("the same mistake saved again ends it; broken YAML too can be repaired", async () => {
		const again = await edit(replace("lane: default", "lane: x"), { terminal: true, refuse: 9 });
		expect([again.files.length, again.code, again.err]).toEqual([2, 1, "sluice: the mistake is still there: nothing was changed\n"]);
		const repaired = await edit(
			(file, turn) => replace(turn === 1 ? "lane: default" : "lane: [", turn === 1 ? "lane: [" : "lane: slow")(file),
			{ terminal: true },
		);
		expect(repaired.files[1]).toMatch(/^#! the file:\d+:\d+: /);
		expect(repaired.sent).toEqual([{ id: 7, set: { lane: "slow" }, unset: [] }]);
	});

	test("without a terminal the mistake is printed", async () => {
		const { files, code, err } = await edit(replace("lane: default", "lane: x"), { refuse: 9 });
		expect([files.length, code]).toEqual([1, 3]);
		expect(err).toContain("there is no lane");
		expect((await edit(replace("lane: default", "lane: [x"))).err).toMatch(/^sluice: the file:\d+:\d+: /);
		expect((await edit((file) => writeFileSync(file, "- 1\n"))).err).toContain("must have keys and values");
	});
});
