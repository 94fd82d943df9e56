// A worktree for a job of a repository with 10,000 files, ready for its run, beside bare `git worktree add`.

import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SILENT } from "../../src/contracts/log.ts";
import type { Claimed, Scheduler } from "../../src/contracts/scheduler.ts";
import type { Job } from "../../src/core/job.ts";
import { localDisk } from "../../src/host/disk.ts";
import { openGit } from "../../src/host/git.ts";
import { localHost, systemClock } from "../../src/host/local.ts";
import { runProgram } from "../../src/host/program.ts";
import { createWork, type Repo, type WorkspaceDeps } from "../../src/workspaces/index.ts";
import { interleave } from "../interleave.ts";
import { atMost, type Row } from "../row.ts";
import { ratio } from "../statistics.ts";

const ENV = { PATH: process.env.PATH ?? "", GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };

export const worktree: Row = {
	name: "worktree",
	title: "A worktree of 10,000 files over bare git worktree add",
	async run(bench) {
		const folder = bench.freshFile("worktree-repo");
		const path = join(folder, "repo");
		const git = (...args: string[]) =>
			execFileSync("git", ["-c", "user.name=b", "-c", "user.email=b@x", ...args], { cwd: path, env: ENV, stdio: "ignore" });
		makeRepository(path, bench.size(10_000, 500), git);
		const work = workOn(folder, path);
		let n = 0;
		try {
			const { ours, bare } = await interleave(bench, [
				{
					name: "bare",
					round() {
						const start = performance.now();
						git("worktree", "add", "--quiet", "-b", `bare-${++n}`, join(folder, `bare-${n}`), "main");
						return performance.now() - start;
					},
				},
				{
					name: "ours",
					async round() {
						const start = performance.now();
						const place = await work.enter(claimOf(++n), folder);
						if ("refused" in place) throw new Error(place.refused);
						return performance.now() - start;
					},
				},
			]);
			return [
				{ what: "worktree set-up ÷ bare git worktree add", bar: atMost(1.2), unit: "×", measured: ratio(ours, bare) },
				{ what: "worktree set-up", unit: "ms", measured: ours },
				{ what: "bare git worktree add", unit: "ms", measured: bare },
			];
		} finally {
			rmSync(folder, { recursive: true, force: true });
		}
	},
};

function makeRepository(path: string, files: number, git: (...args: string[]) => unknown): void {
	mkdirSync(path, { recursive: true });
	for (let n = 0; n < files; n++) {
		const at = join(path, `part-${n % 100}`);
		if (n < 100) mkdirSync(at);
		writeFileSync(join(at, `file-${n}.txt`), `${n}\n`.repeat(50));
	}
	git("init", "--quiet", "--initial-branch=main");
	git("add", "--all");
	git("commit", "--quiet", "-m", "first");
}

function workOn(folder: string, path: string) {
	const none = { after_create: [], before_run: [], after_run: [], before_remove: [] };
	const repo = { name: "r", path, base_branch: null, verify: [], hooks: none, hook_timeout_ms: 1000, merge: "local" } as unknown as Repo;
	const parts: WorkspaceDeps = {
		scheduler: { watch: () => () => {} } as unknown as Scheduler,
		git: openGit({ run: runProgram, env: () => ENV, mark: "bench-git" }),
		run: runProgram,
		disk: localDisk,
		host: localHost,
		clock: systemClock,
		log: SILENT,
		worktrees: join(folder, "worktrees"),
		runs: join(folder, "runs"),
		homeTag: "bench",
		repo: () => repo,
		repos: () => ["r"],
		env: () => ENV,
		usersOf: () => [],
		isLive: () => false,
		retentionMs: () => null,
	};
	return createWork(parts);
}

const claimOf = (id: number): Claimed => ({
	job: { id, repo: "r", kind: "command", attempt: 1, created_at: 0 } as Job,
	spec: { version: 1, enqueued_at: 0, title: "bench" },
	run: { attempt: 1, token: 1, host: "", worker: "", started_at: 0 },
});
