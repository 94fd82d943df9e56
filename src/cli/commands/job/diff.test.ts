// What diff prints: tamed on a terminal, as it is for another program.

import { expect, test } from "vitest";
import { openCommandLine } from "../../../../test/make/daemons/command-line.ts";

const PATCH = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\u001b]0;title\u0007\u001b[2J\n+new\u001b[31m red\u001b[0m\rover\u0008\n";

test("diff: a terminal gets Sluice's own colours and nothing of the patch's sequences", async () => {
	const line = await openCommandLine({ "job.diff": { job: 7, from: "commit", patch: PATCH } });
	let seen = "";
	const stdout = { write: (text: string) => (seen += text), isTTY: true, columns: 80 };
	expect((await line.run("--no-color diff 7", { stdout })).code).toBe(0);
	expect(seen).toBe("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new red\nover\n");
	seen = "";
	await line.run("diff 7", { stdout });
	const paint = (code: number, text: string) => `\u001b[${code}m${text}\u001b[0m\n`;
	expect(seen).toBe(
		`${paint(2, "--- a/x")}${paint(2, "+++ b/x")}${paint(36, "@@ -1 +1 @@")}${paint(31, "-old")}${paint(32, "+new red")}over\n`,
	);
	// As git apply takes it.
	expect((await line.run("diff 7")).out).toBe(PATCH);
});
