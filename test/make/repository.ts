// A real git repository in a folder of the test's own.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Git } from "../../src/contracts/git.ts";
import { openGit } from "../../src/host/git.ts";
import { runProgram } from "../../src/host/program.ts";
import { makeFolder } from "./folder.ts";

const ENV = { PATH: process.env.PATH ?? "", HOME: "/nonexistent", GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", LC_ALL: "C" };
const WHO = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];

export class Repository {
	constructor(readonly path: string) {}

	git(...args: string[]): string {
		return execFileSync("git", [...WHO, ...args], {
			cwd: this.path,
			env: ENV,
			encoding: "utf8",
			stdio: ["ignore", "pipe", "pipe"],
		}).trimEnd();
	}

	write(name: string, text: string): void {
		mkdirSync(dirname(join(this.path, name)), { recursive: true });
		writeFileSync(join(this.path, name), text);
	}

	read = (name: string): string => readFileSync(join(this.path, name), "utf8");
	has = (name: string): boolean => existsSync(join(this.path, name));

	/** Files and a commit of them; its id. */
	commit(files: Record<string, string>, message = "change"): string {
		for (const [name, text] of Object.entries(files)) this.write(name, text);
		this.git("add", "--all");
		this.git("commit", "--quiet", "--allow-empty", "-m", message);
		return this.head();
	}

	head = (ref = "HEAD"): string => this.git("rev-parse", "--verify", ref);
	branches = (): string[] => this.git("for-each-ref", "--format=%(refname:short)", "refs/heads/").split("\n").filter(Boolean);
	refs = (under: string): string[] => this.git("for-each-ref", "--format=%(refname)", under).split("\n").filter(Boolean);
}

export function makeRepository(files: Record<string, string> = { "README.md": "hello\n" }): Repository {
	const repository = new Repository(join(makeFolder(), "repo"));
	mkdirSync(repository.path);
	repository.git("init", "--quiet", "--initial-branch=main");
	repository.commit(files, "first");
	return repository;
}

/** git as the daemon calls it. */
export const realGit = (): Git => openGit({ run: runProgram, env: () => ENV, mark: "test-git" });
