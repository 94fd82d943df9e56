// A run that writes only into its worktree cannot make the daemon run a program of its choice: not by another .git, by filters, hooks, or a repository inside.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";
import { makeRepository } from "../make/repository.ts";

/** What the configuration of a planted repository would run. */
const configOf = (witness: string) => {
	// In quotes: git takes what follows a bare semicolon for a comment.
	const program = `"sh -c 'echo run >> ${witness}; cat'"`;
	return [
		"[core]",
		"	repositoryformatversion = 0",
		"	bare = false",
		`	fsmonitor = ${program}`,
		`	sshCommand = ${program}`,
		`	editor = ${program}`,
		'[filter "x"]',
		`	clean = ${program}`,
		`	smudge = ${program}`,
		`	process = ${program}`,
		"	required = false",
		'[diff "x"]',
		`	textconv = ${program}`,
		`	command = ${program}`,
		"[diff]",
		`	external = ${program}`,
		'[merge "x"]',
		`	driver = ${program}`,
	].join("\n");
};
const ATTRIBUTES = "* filter=x diff=x merge=x";

/** The whole git folder of the worktree is copied, so that a git which looks there finds everything, and the configuration is another. */
const REPLACED = (witness: string) => `
	own=$(git rev-parse --absolute-git-dir); common=$(git rev-parse --path-format=absolute --git-common-dir)
	mkdir planted; cp -r "$common"/. planted/; cp "$own/HEAD" "$own/index" planted/; rm -rf planted/worktrees
	cat > planted/config <<'END'
${configOf(witness)}
END
	mkdir -p planted/hooks; printf '#!/bin/sh\\necho hook >> ${witness}\\n' > planted/hooks/post-checkout; chmod +x planted/hooks/*
	rm .git; echo "gitdir: $PWD/planted" > .git
	echo "${ATTRIBUTES}" > .gitattributes; echo planted > .gitignore; echo made > made.txt`;

const NESTED = (witness: string) => `
	git init -q sub; cd sub; echo one > file; git add file; git -c user.name=x -c user.email=x@x commit -qm one
	cat >> .git/config <<'END'
${configOf(witness)}
END
	echo "${ATTRIBUTES}" > .gitattributes; echo two > file; cd ..
	git add sub 2>/dev/null; git -c user.name=x -c user.email=x@x commit -qm sub; echo six > sub/file; touch -d 2001-01-01 sub/file; echo made > made.txt`;

describe.each([
	["another .git with a configuration of its own", REPLACED],
	["a repository inside, as a submodule", NESTED],
])("%s", (_, scriptOf) => {
	test("runs nothing, and the work is still committed, shown and merged", async () => {
		const witness = join(makeFolder(), "witness");
		const repo = makeRepository();
		const home = new TestHome();
		home.make(`repos: ${JSON.stringify({ r: { path: repo.path } })}\n`);
		const { client } = await home.up({ GIT_CONFIG_NOSYSTEM: "1" });
		const { job } = (await client.call("job.add", { command: ["/bin/sh", "-c", scriptOf(witness)], repo: "r", commit: "auto" })) as {
			job: { id: number };
		};
		const show = async () => (await client.call("job.show", { id: job.id })).job;
		const ended = await until(async () => {
			const now = await show();
			return now.status === "succeeded" || now.status === "failed" ? now : undefined;
		});
		expect(ended).toMatchObject({ status: "succeeded" });
		await client.call("job.diff", { id: job.id });
		await until(async () => (await show()).merge_status === "merged");
		expect(repo.git("show", "main:made.txt")).toBe("made");
		const worktree = join(home.path, "worktrees", "r", String(job.id));
		await until(() => !existsSync(worktree));
		expect(existsSync(witness) ? readFileSync(witness, "utf8") : "").toBe("");
	});
});

/** Leaves a commit, and a copy of the git folder with another configuration, in the folder `planted`. */
const COPIED = (witness: string) => `
	own=$(git rev-parse --absolute-git-dir); common=$(git rev-parse --path-format=absolute --git-common-dir)
	echo made > made.txt; git add .; git -c user.name=x -c user.email=x@x commit -qm made
	mkdir planted; cp -r "$common"/. planted/; cp "$own/index" planted/; rm -rf planted/worktrees; echo ref: refs/heads/main > planted/HEAD
	cat > planted/config <<'END'
${configOf(witness)}
END
	echo "* filter=x" > planted/info/attributes`;

describe.each([
	["a file that names another git folder", 'rm .git; echo "gitdir: $PWD/planted" > .git'],
	["a git folder", "rm .git; mv planted .git"],
	["a link to another git folder", "rm .git; ln -s planted .git"],
	["a FIFO", "rm .git; mkfifo .git"],
	["nothing, in a folder that is a bare repository itself", "rm .git; cp -r planted/HEAD planted/objects planted/refs planted/config ."],
])("in the place of .git: %s", (_, plant) => {
	test("the owner's hooks and merge_command use the repository's own git folder, and nothing that was planted runs", async () => {
		const folder = makeFolder();
		const [witness, said, script] = ["witness", "said", "look.sh"].map((name) => join(folder, name)) as [string, string, string];
		writeFileSync(script, `#!/bin/sh\nexec >> ${said} 2>&1\necho "$1 $(git rev-parse --abbrev-ref HEAD)"\ngit status > /dev/null\n`, {
			mode: 0o755,
		});
		const [repo, origin] = [makeRepository(), makeRepository()];
		repo.git("remote", "add", "origin", origin.path);
		const home = new TestHome();
		const hooks = { after_run: [script, "after_run"] };
		home.make(`repos: ${JSON.stringify({ r: { path: repo.path, merge: "mr", merge_command: [script, "merge_command"], hooks } })}\n`);
		const { client } = await home.up({ GIT_CONFIG_NOSYSTEM: "1" });
		const command = `${COPIED(witness)}; ${plant}`;
		const { job } = (await client.call("job.add", {
			command: ["/bin/sh", "-c", command],
			repo: "r",
			commit: "never",
		})) as { job: { id: number } };
		const { branch } = await until(async () => {
			const now = (await client.call("job.show", { id: job.id })).job;
			return now.merge_status === "requested"
				? { branch: repo.git("branch", "--list", "--format=%(refname:short)", "sluice/*") }
				: undefined;
		});
		expect(readFileSync(said, "utf8").trim().split("\n")).toEqual([`after_run ${branch}`, `merge_command ${branch}`]);
		expect(existsSync(witness)).toBe(false);
	});

	test("a person who goes to the folder that `sluice open` prints runs nothing of it", async () => {
		const witness = join(makeFolder(), "witness");
		const { home, client, add } = await openRepo();
		const id = await add(`${COPIED(witness)}; ${plant}`, { no_merge: true });
		await until(async () => (await client.call("job.show", { id })).job.status === "succeeded");
		const { out } = await home.run(["open", String(id), "-q"]);
		execFileSync("git", ["status"], { cwd: out.trim(), stdio: "ignore", timeout: 10_000 });
		expect(existsSync(witness)).toBe(false);
	});
});

async function openRepo() {
	const repo = makeRepository();
	const home = new TestHome();
	home.make(`repos: ${JSON.stringify({ r: { path: repo.path } })}\n`);
	const { client } = await home.up({ GIT_CONFIG_NOSYSTEM: "1" });
	const add = async (script: string, more: Record<string, unknown> = {}) =>
		((await client.call("job.add", { command: ["/bin/sh", "-ec", script], repo: "r", ...more })) as { job: { id: number } }).job.id;
	const job = async (id: number) => (await client.call("job.show", { id })).job;
	const merged = (id: number, wanted: string) => until(async () => ((await job(id)).merge_status === wanted ? job(id) : undefined));
	return { repo, home, client, add, job, merged };
}
const COMMIT = "git -c user.name=x -c user.email=x@x commit -q";
const NO_MODULES = `
	git init -q s; (cd s; echo a > a; git add a; ${COMMIT} -m s); git add s 2> /dev/null; echo evil > evil.sh; git add evil.sh; ${COMMIT} -m x
	printf '[submodule "s"]\\n path=s\\n url=./s\\n update=!x\\n' > .gitmodules`;

describe("a .gitmodules that git refuses", () => {
	test("hides nothing from the diff, is not merged, and stops no other merge of the repo", async () => {
		const { repo, home, client, add, merged } = await openRepo();
		const id = await add(NO_MODULES, { commit: "auto" });
		expect((await merged(id, "verify_failed")).merge_report).toMatchObject({
			files: [".gitmodules"],
			message: expect.stringMatching(/git refuses \.gitmodules of .*: invalid value for 'submodule\.s\.update'.*correct it/),
		});
		expect((await client.call("job.diff", { id })).patch).toContain("+evil");
		expect(repo.git("ls-tree", "--name-only", "main")).toBe("README.md");
		const why = (await home.run(["why", String(id)])).out.replaceAll(/\s+/g, " ");
		expect(why).toContain(".gitmodules");
		expect(why).toContain("→");
		const next = await add(`echo next > next.txt; git add .; ${COMMIT} -m next`);
		await merged(next, "merged");
		const later = await add(NO_MODULES, { commit: "auto", no_merge: true });
		await until(async () => (await client.call("job.show", { id: later })).job.status === "succeeded");
		expect((await client.call("job.diff", { id: later })).patch).toContain("+evil");
	});

	test("that is in the base already stops no merge", async () => {
		const { repo, add, merged } = await openRepo();
		repo.write(".gitmodules", '[submodule "s"]\n\tpath = s\n\turl = ./s\n\tupdate = !x\n');
		repo.git("update-index", "--add", "--cacheinfo", `160000,${repo.head()},s`);
		mkdirSync(join(repo.path, "s"));
		repo.git("add", ".gitmodules");
		repo.git("commit", "-qm", "submodule");
		const id = await add(`echo more > more.txt; git add more.txt; ${COMMIT} -m more`);
		await merged(id, "merged");
		expect(repo.read("more.txt")).toBe("more\n");
	});
});

test("a diff that git cannot make is an error, and not an empty diff", async () => {
	const { home, client, add } = await openRepo();
	// git needs the old content of the file for the diff.
	const lost = `old=$(git rev-parse HEAD:README.md); echo other > README.md; git add .; ${COMMIT} -m other
		objects=$(git rev-parse --path-format=absolute --git-path objects); rm -f "$objects/$(echo $old | cut -c1-2)/$(echo $old | cut -c3-)"`;
	const id = await add(lost, { no_merge: true });
	await until(async () => (await client.call("job.show", { id })).job.status === "succeeded");
	const refused = { code: "invalid", message: expect.stringContaining(`the diff of job ${id} cannot be made`) };
	await expect(client.call("job.diff", { id })).rejects.toMatchObject(refused);
	expect(existsSync(join(home.path, "runs", String(id), "1", "output.patch"))).toBe(false);
	rmSync(join(home.path, "worktrees", "r", `${id}.json`));
	await expect(client.call("job.diff", { id })).rejects.toMatchObject(refused);
});
