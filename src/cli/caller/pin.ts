// `--pin BRANCH`: the commit that the branch points to now, in the job's repo or else in the repository of the job's folder.

import { usage } from "../failure.ts";
import type { Io } from "../io.ts";

/** `repo`: the value of `--repo`. `here`: the folder of a job without a repo. */
export async function pinOf(text: string, repo: string | undefined, io: Io, here: string): Promise<{ branch: string; commit: string }> {
	const [, branch, commit] = /^(.+?)(?:@([0-9a-f]{4,64}))?$/.exec(text) ?? [];
	if (branch === undefined) throw usage("--pin is empty");
	if (commit !== undefined) return { branch, commit };
	const folder = repo === undefined ? here : await folderOf(repo, io);
	const { execFileSync } = await import("node:child_process");
	try {
		const found = execFileSync("git", ["rev-parse", "--verify", "--quiet", "--end-of-options", `refs/heads/${branch}`], {
			cwd: folder,
			encoding: "utf8",
			stdio: ["ignore", "pipe", "ignore"],
		});
		return { branch, commit: found.trim() };
	} catch {
		const hint = repo === undefined ? "write --pin BRANCH@COMMIT, or name its repo with --repo" : "write --pin BRANCH@COMMIT";
		throw usage(`--pin: there is no branch ${JSON.stringify(branch)} in ${folder}`, hint);
	}
}

async function folderOf(name: string, io: Io): Promise<string> {
	const { repo } = await io.ask("repo.show", { name });
	if (repo.path === null) throw usage(`--pin: repo ${name} has no folder here to look into`, "write --pin BRANCH@COMMIT");
	return repo.path;
}
