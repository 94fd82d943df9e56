// The diff of somebody's working tree, as it is now: staged or not, new files too, what git ignores not. Nothing there is touched.

import { copyFileSync, existsSync } from "node:fs";
import { SluiceError } from "../core/errors.ts";
import { troubleOf } from "../disk.ts";
import type { Yard } from "./parts.ts";
import { stageAll } from "./staging.ts";

/** As long as a job's other texts may be. */
const MOST = 1_000_000;
const SLOW_MS = 120_000;
let count = 0;

export async function captureDiff(yard: Pick<Yard, "git" | "disk" | "runs" | "clock">, folder: string): Promise<string> {
	const { git, disk } = yard;
	const refuse = (why: string, hint: string) => new SluiceError("invalid", `capture_diff: ${why}`, { field: "capture_diff", hint });
	const [top, own] = await git
		.ask(folder, ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-path", "index"])
		.then((said) => said.split("\n"))
		.catch((error) => {
			throw refuse(`${folder} has no working tree of git: ${troubleOf(error)}`, "go to a checkout, or name one with --cwd");
		});
	const name = `${yard.runs}/capture-${yard.clock.now()}-${++count}`;
	const [index, into] = [`${name}.index`, `${name}.patch`];
	const env = { GIT_INDEX_FILE: index };
	try {
		// A copy of theirs knows which files have not changed: big trees need not be read whole.
		if (own !== undefined && existsSync(own)) copyFileSync(own, index);
		await stageAll(git, top as string, { env, timeoutMs: SLOW_MS });
		const plain = ["--binary", "--no-ext-diff", "--no-textconv", "--no-color", `--output=${into}`];
		await git.ask(top as string, ["diff", "--cached", ...plain, "HEAD", "--"], { env, timeoutMs: SLOW_MS });
		const size = disk.size(into) ?? 0;
		if (size > MOST) throw refuse(`the diff of ${top} has ${size} bytes, at most ${MOST} are kept`, "commit it to a branch instead");
		return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(disk.readAt(into, 0, size));
	} catch (error) {
		if (error instanceof SluiceError) throw error;
		if (error instanceof TypeError) throw refuse(`the diff of ${top} has text that is not UTF-8`, "commit it to a branch instead");
		throw refuse(`the diff of ${top} cannot be made: ${troubleOf(error)}`, "does it have a commit?");
	} finally {
		for (const path of [index, `${index}.lock`, into]) disk.remove(path);
	}
}
