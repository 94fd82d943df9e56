// A folder of cards as a source: phases, states, errors that concern one card only, detected changes, and writing while a person edits.

import {
	appendFileSync,
	linkSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeSourceSettings } from "../../../test/make/agents/source.ts";
import { makeFolder } from "../../../test/make/folder.ts";
import { localHost } from "../../host/local.ts";
import { cardCodeOf } from "./card.ts";
import { type CardParts, openCards } from "./index.ts";
import { writeCard } from "./write.ts";

function makeCards(cards: Record<string, string | Uint8Array>) {
	const root = makeFolder();
	const put = (path: string, text: string | Uint8Array) => {
		mkdirSync(dirname(join(root, path)), { recursive: true });
		writeFileSync(join(root, path), text);
		return join(root, path);
	};
	for (const [path, text] of Object.entries(cards)) put(path, text);
	const open = (onAccess?: CardParts["onAccess"]) => {
		const source = openCards("cards", makeSourceSettings({ kind: "cards", root, watch: true, write_back: "agent_status" }), {
			host: localHost,
			...(onAccess ? { onAccess } : {}),
		});
		onTestFinished(() => source.close());
		return source;
	};
	return { root, put, open };
}
const card = (fields = "agent_flow: implement", body = "# A title\n\ntext\n") => `---\n${fields}\n---\n${body}`;

describe("what a card says", () => {
	test("its folder is its state, its phase folder its phase, its front matter the rest", async () => {
		const { open } = makeCards({
			"phase-1-base/backlog/1.1-first.md": card("agent_flow: implement\nowner: ann\nparallelizable: true\nbranch: f/x\nextra: [1]"),
			"phase-1-base/in-progress/1.2-second.md": card("agent_flow: review\nagent_status: running"),
			"phase-2-more/done/2.1-third.md": card(),
			"phase-2-more/backlog/2.2-idea.md": card("owner: bo"),
			"phase-2-more/backlog/notes.txt": "no card",
			"elsewhere/backlog/9-x.md": card(),
		});
		const { items, faults } = await open().scan();
		expect(faults).toEqual([]);
		expect(
			items.map(({ id, phase, status, flow, eligible, open, in_progress, parallelizable }) => ({
				id,
				phase,
				status,
				flow,
				eligible,
				open,
				in_progress,
				parallelizable,
			})),
		).toEqual([
			{
				id: "1.1",
				phase: "phase-1-base",
				status: "backlog",
				flow: "implement",
				eligible: true,
				open: true,
				in_progress: false,
				parallelizable: true,
			},
			{
				id: "1.2",
				phase: "phase-1-base",
				status: "in-progress",
				flow: "review",
				eligible: false,
				open: true,
				in_progress: true,
				parallelizable: false,
			},
			{
				id: "2.2",
				phase: "phase-2-more",
				status: "backlog",
				flow: null,
				eligible: false,
				open: true,
				in_progress: false,
				parallelizable: false,
			},
			{
				id: "2.1",
				phase: "phase-2-more",
				status: "done",
				flow: "implement",
				eligible: false,
				open: false,
				in_progress: false,
				parallelizable: false,
			},
		]);
		expect(items[0]).toMatchObject({ title: "A title", text: "# A title\n\ntext", owner: "ann", branch: "f/x" });
	});
	test("codes", () => {
		expect(["5.3-login-form.md", "A-12-search.md", "A-12.md", "plan.md", "x1-2.md"].map(cardCodeOf)).toEqual([
			"5.3",
			"A-12",
			"A-12",
			"plan",
			"x1",
		]);
	});
});

describe("an error concerns its card alone", () => {
	test("malformed, no UTF-8, links out of the root, long titles, one id twice, impossible states", async () => {
		const { root, put, open } = makeCards({
			"phase-1-a/backlog/1-ok.md": card(),
			"phase-1-a/backlog/2-bad.md": "---\na: [\n---\n",
			"phase-1-a/backlog/3-bytes.md": new Uint8Array([0xff, 0xfe, 0x00]),
			"phase-1-a/backlog/4-long.md": card("agent_flow: implement", `# ${"x".repeat(1_000_000)}\n`),
			"phase-1-a/backlog/5-twice.md": card(),
			"phase-2-b/backlog/5-again.md": card(),
			"phase-1-a/done/6-busy.md": card("agent_flow: implement\nagent_status: running"),
			"phase-1-a/backlog/7-word.md": card("agent_flow: implement\nagent_status: runnning"),
			"phase-1-a/backlog/8-flag.md": card("agent_flow: implement\nparallelizable: perhaps"),
		});
		const outside = join(makeFolder(), "secret.md");
		writeFileSync(outside, card());
		symlinkSync(outside, join(root, "phase-1-a/backlog/9-link.md"));
		symlinkSync(dirname(outside), join(root, "phase-2-b/done"));
		symlinkSync(join(root, "nowhere"), put("phase-2-b/backlog/x", "") && join(root, "phase-2-b/backlog/10-dead.md"));
		const source = open();
		const { items, faults } = await source.scan();
		expect(items.map(({ id, report }) => [id, report])).toEqual([
			["1", undefined],
			["6", "agent_status is running, but the card lies in done"],
		]);
		const said = Object.fromEntries(faults.map(({ id, message }) => [id ?? "", message]));
		expect(said).toMatchObject({
			"": expect.stringContaining("link out of the source's folder"),
			2: expect.stringMatching(/2-bad.md: line \d: front matter/),
			3: expect.stringContaining("is not UTF-8"),
			4: expect.stringContaining("title: is 1000000 characters long"),
			5: expect.stringMatching(/two cards have the code 5: phase-1-a.*5-twice.md, phase-2-b.*5-again.md/),
			7: expect.stringContaining("agent_status: must be one of"),
			8: expect.stringContaining("parallelizable"),
			9: expect.stringContaining("link out of the source's folder"),
			10: expect.stringContaining("ENOENT"),
		});
		await expect(source.read("2")).rejects.toThrow("front matter");
		expect(await source.read("nobody")).toBeNull();
		rmSync(join(root, "phase-2-b/backlog/5-again.md"));
		expect(await source.read("5")).toMatchObject({ eligible: true });
	});
	test("a missing root is reported", async () => {
		const { root, open } = makeCards({});
		rmSync(root, { recursive: true });
		await expect(open().scan()).rejects.toThrow(/source cards: .*ENOENT/);
	});
});

describe("changes", () => {
	/** Waits until changes with all of these ids were reported. */
	const heard = (source: ReturnType<ReturnType<typeof makeCards>["open"]>) => {
		const seen: string[] = [];
		let wake = () => {};
		source.watch?.((ids) => {
			seen.push(...ids);
			wake();
		});
		return async (...ids: string[]) => {
			while (!ids.every((id) => seen.includes(id)))
				await new Promise<void>((resolve) => {
					wake = resolve;
				});
			seen.length = 0;
		};
	};

	test("new, changed, moved and deleted cards are noticed, also in folders that come later", async () => {
		const { root, put, open } = makeCards({ "phase-1-a/backlog/1-x.md": card() });
		const source = open();
		const next = heard(source);
		await next("1");
		put("phase-1-a/backlog/2-y.md", card());
		await next("2");
		put("phase-3-c/backlog/3-z.md", card());
		await next("3");
		appendFileSync(join(root, "phase-3-c/backlog/3-z.md"), "more\n");
		await next("3");
		mkdirSync(join(root, "phase-1-a/done"));
		renameSync(join(root, "phase-1-a/backlog/1-x.md"), join(root, "phase-1-a/done/1-x.md"));
		await next("1");
		expect(await source.read("1")).toMatchObject({ open: false });
		rmSync(join(root, "phase-1-a/backlog/2-y.md"));
		await next("2");
		expect(await source.read("2")).toBeNull();
	});

	test("existing cards come by phase and code, as people number them", async () => {
		const { open } = makeCards(
			Object.fromEntries(
				[
					"phase-10-z/backlog/1.1-a.md",
					"phase-9-y/backlog/12.10-x.md",
					"phase-9-y/backlog/12.2-x.md",
					"phase-9-y/in-progress/12.1-x.md",
				].map((path) => [path, card()]),
			),
		);
		const ids = await new Promise<string[]>((resolve) => open().watch?.(resolve));
		expect(ids).toEqual(["12.1", "12.2", "12.10", "1.1"]);
		expect((await open().scan()).items.map(({ id }) => id)).toEqual(["12.2", "12.10", "12.1", "1.1"]);
	});

	test("of 10,000 cards each is read once, and after one change only the changed card", { timeout: 60_000 }, async () => {
		const { root, put, open } = makeCards({});
		// One file under many names: creating ten thousand files would take longer than scanning them.
		for (let n = 0; n < 10_000; n++) {
			const path = `phase-${n % 5}-p/backlog/c${n}-slug.md`;
			if (n < 5 || n === 7777) put(path, card());
			else linkSync(join(root, "phase-0-p/backlog/c0-slug.md"), join(root, path));
		}
		const count = { look: 0, read: 0 };
		const source = open((what) => {
			count[what]++;
		});
		const next = heard(source);
		await next("c0", "c9999");
		expect(count).toEqual({ look: 10_000, read: 10_000 });
		Object.assign(count, { look: 0, read: 0 });
		appendFileSync(join(root, "phase-2-p/backlog/c7777-slug.md"), "edited\n");
		await next("c7777");
		expect(count.read).toBe(1);
		expect(count.look).toBeLessThan(5);
		Object.assign(count, { look: 0, read: 0 });
		expect((await source.scan()).items).toHaveLength(10_000);
		expect(count).toEqual({ look: 10_000, read: 0 });
	});
});

describe("writing", () => {
	test("status and history, and nothing else: not a byte, not the mode", async () => {
		const text = "---\r\nz: 1 # last first\r\nagent_flow: implement\r\nagent_status: idle\r\nunknown: {a: [1,2]}\r\n---\r\n# T\r\n";
		const { root, open } = makeCards({ "phase-1-a/backlog/1-x.md": text });
		const path = join(root, "phase-1-a/backlog/1-x.md");
		const mode = statSync(path).mode;
		const source = open();
		const line = { text: "2030-01-01 run 1.1 implement: succeeded", once: "run 1.1 " };
		await source.write?.("1", { status: "queued" });
		await source.write?.("1", { status: "running" });
		expect(await source.write?.("1", { status: "succeeded", line })).toEqual({ changed: true, left: null });
		expect(readFileSync(path, "utf8")).toBe(`${text.replace("status: idle", "status: succeeded")}\r\n## History\r\n\r\n- ${line.text}\r\n`);
		expect(statSync(path).mode).toBe(mode);
		expect(readdirSync(dirname(path))).toEqual(["1-x.md"]);
		expect(await source.read("1")).toMatchObject({ eligible: false, in_progress: false });
	});
	test("an edit between our reading and our writing is kept", async () => {
		const { root } = makeCards({ "phase-1-a/backlog/1-x.md": card("agent_flow: implement\nagent_status: queued") });
		const path = join(root, "phase-1-a/backlog/1-x.md");
		let edits = 3;
		await writeCard(path, { status: "running" }, (moment) => {
			if (moment === "read" && edits-- > 0) appendFileSync(path, `edit ${edits}\n`);
		});
		expect(readFileSync(path, "utf8")).toBe(`${card("agent_flow: implement\nagent_status: running")}edit 2\nedit 1\nedit 0\n`);
	});
	test("an editor that never stops saving is not overtaken", async () => {
		const { root } = makeCards({ "phase-1-a/backlog/1-x.md": card("agent_status: queued") });
		const path = join(root, "phase-1-a/backlog/1-x.md");
		await expect(writeCard(path, { status: "running" }, () => appendFileSync(path, "again\n"))).rejects.toThrow("faster");
		expect(readFileSync(path, "utf8")).not.toContain("running");
	});
	test("a card that is deleted in the last moment does not come back", async () => {
		const { root } = makeCards({ "phase-1-a/backlog/1-x.md": card("agent_status: queued") });
		const path = join(root, "phase-1-a/backlog/1-x.md");
		const writing = writeCard(path, { status: "canceled" }, (moment) => {
			if (moment === "write") rmSync(path);
		});
		await expect(writing).rejects.toThrow("ENOENT");
		expect(readdirSync(dirname(path))).toEqual([]);
	});
	test("a card that is moved to another folder in the last moment is written there, and is not at its old place again", async () => {
		const { root } = makeCards({ "phase-1-a/backlog/1-x.md": card("agent_status: queued"), "phase-1-a/done/2-y.md": card() });
		const path = join(root, "phase-1-a/backlog/1-x.md");
		await writeCard(path, { status: "canceled" }, (moment) => {
			if (moment === "write") renameSync(path, join(root, "phase-1-a/done/1-x.md"));
		});
		expect(readdirSync(dirname(path))).toEqual([]);
		expect(readFileSync(join(root, "phase-1-a/done/1-x.md"), "utf8")).toBe(card("agent_status: canceled"));
	});
	test("an editor that puts a new file in its place in the last moment: both changes are kept", async () => {
		const { root } = makeCards({ "phase-1-a/backlog/1-x.md": card("agent_status: queued") });
		const path = join(root, "phase-1-a/backlog/1-x.md");
		let edits = 1;
		await writeCard(path, { status: "running" }, (moment) => {
			if (moment !== "write" || edits-- <= 0) return;
			writeFileSync(`${path}~`, card("agent_status: queued", "# Another title\n"));
			renameSync(`${path}~`, path);
		});
		expect(readFileSync(path, "utf8")).toBe(card("agent_status: running", "# Another title\n"));
	});
	test("a person's last-moment decision counts", async () => {
		const { root } = makeCards({ "phase-1-a/backlog/1-x.md": card("agent_status: idle") });
		const path = join(root, "phase-1-a/backlog/1-x.md");
		await writeCard(path, { status: "queued" }, (moment) => {
			if (moment !== "write") return;
			writeFileSync(`${path}~`, card("agent_status: succeeded"));
			renameSync(`${path}~`, path);
		});
		expect(readFileSync(path, "utf8")).toBe(card("agent_status: succeeded"));
	});
});
