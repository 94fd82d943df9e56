// One row for each thing that makes git run a program or look elsewhere. Planted by a job in its worktree, the daemon's git does not follow it, and the work is
// committed, shown and merged all the same: all rows in one repository, side by side. Configured by the owner in the registered repository, it works.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";
import { makeRepository } from "../make/repository.ts";

/** The worktree's whole git folder is copied into the worktree, so that a git that follows it finds everything, under another configuration. */
const copied = (place: string) => `
	own=$(git rev-parse --absolute-git-dir); common=$(git rev-parse --path-format=absolute --git-common-dir)
	mkdir -p ${place}; cp -r "$common"/. ${place}/ 2>/dev/null || true; cp "$own/HEAD" "$own/index" ${place}/; rm -rf ${place}/worktrees ${place}/*.lock`;
/** Each row has its file, so that all can be merged into one base. */
const LEFT = "echo made > $MADE";

/** A configuration, in a git folder that the worktree's \`.git\` names. */
const config =
	(text: (run: string, tree: string) => string, more = ":") =>
	(run: string) =>
		`
	${copied("planted")}
	cat >> planted/config <<END
${text(run, "$PWD")}
END
	rm .git; echo "gitdir: $PWD/planted" > .git; ${more}; ${LEFT}`;
const ATTRIBUTES = 'echo "* filter=x diff=x merge=x" > .gitattributes';
const section = (name: string, ...lines: string[]) => `[${name}]\n${lines.map((line) => `\t${line}`).join("\n")}`;

/** \`run\`: a program that leaves a witness. */
const PLANTED: Record<string, (run: string) => string> = {
	"core.fsmonitor": config((run) => section("core", `fsmonitor = ${run}`)),
	"core.hooksPath": config(
		(_, tree) => section("core", `hooksPath = ${tree}/planted/hooks`),
		"mkdir -p planted/hooks; for h in post-checkout pre-commit post-commit commit-msg prepare-commit-msg reference-transaction post-index-change post-merge pre-rebase post-rewrite pre-push; do printf '#!/bin/sh\\n$RUN\\n' > planted/hooks/$h; chmod +x planted/hooks/$h; done",
	),
	"core.sshCommand, remote.origin.uploadpack and receivepack": config((run) =>
		[
			section("core", `sshCommand = ${run}`, `gitProxy = ${run}`),
			section('remote "origin"', "url = ssh://127.0.0.1/x", `uploadpack = ${run}`, `receivepack = ${run}`),
		].join("\n"),
	),
	"an ext:: remote, protocol.ext.allow": config((run) =>
		[
			section("protocol", "allow = always"),
			section('protocol "ext"', "allow = always"),
			section('remote "origin"', `url = ext::${run}`, "fetch = +refs/heads/*:refs/heads/*"),
		].join("\n"),
	),
	"credential.helper, core.askPass": config((run) =>
		[section("credential", `helper = !${run}`), section("core", `askPass = ${run}`)].join("\n"),
	),
	"gpg.program with commit.gpgSign": config((run) =>
		[section("commit", "gpgSign = true"), section("gpg", `program = ${run}`), section("merge", "verifySignatures = true")].join("\n"),
	),
	"core.editor, sequence.editor, core.pager": config((run) =>
		[section("core", `editor = ${run}`, `pager = ${run}`), section("sequence", `editor = ${run}`)].join("\n"),
	),
	"diff.external, textconv and diff commands": config(
		(run) => [section("diff", `external = ${run}`), section('diff "x"', `textconv = ${run}`, `command = ${run}`)].join("\n"),
		ATTRIBUTES,
	),
	"a merge driver": config((run) => [section('merge "x"', `driver = ${run}`), section("merge", "default = x")].join("\n"), ATTRIBUTES),
	"a filter: clean and smudge": config((run) => section('filter "x"', `clean = ${run}`, `smudge = ${run}`), ATTRIBUTES),
	"a filter: a long-running process": config((run) => section('filter "x"', `process = ${run}`), ATTRIBUTES),
	"include.path": config(
		(_, tree) => section("include", `path = ${tree}/planted/more`),
		`${ATTRIBUTES}; printf '[filter "x"]\\n\\tclean = %s\\n[core]\\n\\tfsmonitor = %s\\n' "$RUN" "$RUN" > planted/more`,
	),
	"includeIf gitdir": config(
		(_, tree) => section('includeIf "gitdir:/**"', `path = ${tree}/planted/more`),
		`${ATTRIBUTES}; printf '[filter "x"]\\n\\tclean = %s\\n' "$RUN" > planted/more`,
	),
	"core.attributesFile": config(
		(run, tree) => [section("core", `attributesFile = ${tree}/planted/attributes`), section('filter "x"', `clean = ${run}`)].join("\n"),
		'echo "* filter=x" > planted/attributes',
	),
	"aliases of git's own commands": config((run) => section("alias", `status = !${run}`, `add = !${run}`, `diff = !${run}`)),
	"core.worktree that leads elsewhere": config((_, tree) => section("core", `worktree = ${tree}/planted`)),
	"a link in the place of .git": (run) => `
		${copied("planted")}
		printf '[core]\\n\\tfsmonitor = %s\\n[filter "x"]\\n\\tclean = %s\\n' "${run}" "${run}" >> planted/config
		${ATTRIBUTES}; rm .git; ln -s planted .git; ${LEFT}`,
	"a folder in the place of .git, with a commondir": (run) => `
		${copied("planted")}
		printf '[core]\\n\\tfsmonitor = %s\\n[filter "x"]\\n\\tclean = %s\\n' "${run}" "${run}" >> planted/config
		${ATTRIBUTES}; rm .git; mkdir .git; echo "$PWD/planted" > .git/commondir; cp planted/HEAD planted/index .git/; ${LEFT}`,
	"a FIFO in the place of .git": () => `rm .git; mkfifo .git; ${LEFT}`,
	"a .git that is gone": () => `rm .git; ${LEFT}`,
	"a worktree that looks like a bare repository": (run) => `
		${copied("planted")}
		printf '[core]\\n\\tbare = true\\n\\tfsmonitor = %s\\n[filter "x"]\\n\\tclean = %s\\n' "${run}" "${run}" >> planted/config
		${ATTRIBUTES}; rm .git; cp -r planted/HEAD planted/objects planted/refs planted/config .; ${LEFT}`,
	".gitmodules with a command": (run) => `
		git init -q sub; (cd sub; git -c user.name=x -c user.email=x@x commit -q --allow-empty -m one)
		printf '[submodule "sub"]\\n\\tpath = sub\\n\\turl = ./sub\\n\\tupdate = !%s\\n\\tfetchRecurseSubmodules = true\\n' "${run}" > .gitmodules; rm -rf sub; ${LEFT}`,
};

/** git refuses such a file, so the branch is not merged. */
const REFUSED = [".gitmodules with a command"];
const KEPT = ["a .git that is gone", "a worktree that looks like a bare repository"];

/** Leaves a witness, and what it was given as it is. */
function program(folder: string, name: string): { run: string; seen: () => string } {
	const [witness, path] = [join(folder, `${name}.witness`), join(folder, `${name}.sh`)];
	writeFileSync(path, `#!/bin/sh\necho "$0 $*" >> ${witness}\ncat 2>/dev/null\n`, { mode: 0o755 });
	return { run: path, seen: () => (existsSync(witness) ? readFileSync(witness, "utf8") : "") };
}

test("planted in a worktree: nothing of it is followed", { timeout: 180_000 }, async () => {
	const folder = makeFolder();
	const { repo, home, client } = await openRepo();
	repo.commit({ ".gitignore": "planted\nHEAD\nobjects\nrefs\nconfig\n" });
	const rows = await Promise.all(
		Object.entries(PLANTED).map(async ([name, scriptOf], at) => {
			const { run, seen } = program(folder, `program-${at}`);
			const made = `made-${at}.txt`;
			const script = `RUN=${run} MADE=${made}; set -e\n${scriptOf(run).replaceAll("$RUN\\n", `${run}\\n`)}`;
			const spec = { command: ["/bin/sh", "-c", script], repo: "r", commit: "auto" as const, retry: { max: 0 } as never };
			const { job } = (await client.call("job.add", spec)) as { job: { id: number } };
			return { name, made, seen, id: job.id };
		}),
	);
	const ended = await Promise.all(
		rows.map(async ({ name, made, seen, id }) => {
			const now = await until(async () => {
				const { job } = await client.call("job.show", { id });
				return job.status === "failed" || ["merged", "verify_failed", "conflict"].includes(job.merge_status ?? "") ? job : undefined;
			});
			const { patch } = await client.call("job.diff", { id });
			await client.call("repo.list", {});
			// Without a .git it may be anything: what is in it stays, for a person to look at.
			if (![...KEPT, ...REFUSED].includes(name)) await until(() => !existsSync(join(home.path, "worktrees", "r", String(id))));
			return { name, id, made, seen, status: now.status, merge: now.merge_status, shown: String(patch).includes(made) };
		}),
	);
	await client.call("scheduler.prune", {});
	const found = ended.map(({ name, made, seen, status, merge, shown }) => {
		const onBase = merge === "merged" ? repo.git("show", `main:${made}`) : null;
		return { name, status, merge, shown, ran: seen(), onBase };
	});
	expect(found).toEqual(
		Object.keys(PLANTED).map((name) => ({
			...{ name, status: "succeeded", shown: true, ran: "" },
			...(REFUSED.includes(name) ? { merge: "verify_failed", onBase: null } : { merge: "merged", onBase: "made" }),
		})),
	);
	expect(readdirSync(join(repo.path, ".git"))).not.toContain("index.lock");
});

async function openRepo(settings: Record<string, unknown> = {}, env: Record<string, string> = {}) {
	const repo = makeRepository({ "README.md": "hello\n", "same.txt": "1\n" });
	const home = new TestHome();
	home.make(`repos: ${JSON.stringify({ r: { path: repo.path, base_branch: "main", ...settings } })}\n`);
	const { client } = await home.up({ GIT_CONFIG_NOSYSTEM: "1", ...env });
	const merged = async (script: string, more: Record<string, unknown> = {}) => {
		const { job } = (await client.call("job.add", { command: ["/bin/sh", "-ec", script], repo: "r", commit: "auto", ...more })) as {
			job: { id: number };
		};
		return until(async () => {
			const now = (await client.call("job.show", { id: job.id })).job;
			return now.status === "failed" || ["merged", "verify_failed", "conflict", "base_dirty"].includes(now.merge_status ?? "")
				? now
				: undefined;
		});
	};
	return { repo, home, client, merged };
}
const COMMIT = "git -c user.name=x -c user.email=x@x commit -q";

test("what is verified is what is merged: a job cannot put another commit in the place of its own", { timeout: 60_000 }, async () => {
	const { repo, merged } = await openRepo({ verify: ["sh", "-c", "test ! -e forbidden.txt"] });
	const ended = await merged(
		`
		echo good > good.txt; git add .; ${COMMIT} -m good; good=$(git rev-parse HEAD); git reset -q --hard HEAD~1
		echo bad > forbidden.txt; git add .; ${COMMIT} -m bad; git replace HEAD $good`,
		{ commit: "never" },
	);
	expect(ended.merge_status).toBe("verify_failed");
	expect(repo.git("--no-replace-objects", "ls-tree", "--name-only", "main")).not.toContain("forbidden");
});

test("capture_diff of a run: its own worktree, as the daemon made it; no program of another repository runs", {
	timeout: 60_000,
}, async () => {
	const folder = makeFolder();
	const { run, seen } = program(folder, "program");
	const { home, client, merged } = await openRepo();
	const add = `${process.execPath} ${TestHome.command()} add`;
	const evil = (place: string) => `
		(git init -q ${place}; cd ${place}; echo one > file; git add file; ${COMMIT} -m one; git config filter.x.clean ${run}
		git config core.fsmonitor ${run}; echo "* filter=x" > .gitattributes; echo two > file)`;
	// In a worktree the daemon's git takes the registered repository's settings, whatever lies below; elsewhere it does not look.
	const script = `
		${evil(`${folder}/evil`)}; ${evil("nested")}; rm -f ${folder}/program.witness; echo made > made.txt
		${add} --capture-diff --cwd ${folder}/evil -- true > ${folder}/elsewhere 2>&1 || true
		${add} --name nested --capture-diff --needs-approval --cwd $PWD/nested -- true
		rm -rf nested; ${add} --name child --capture-diff --needs-approval -- true`;
	expect(await merged(script, { env: { HOME: home.path } })).toMatchObject({ status: "succeeded" });
	expect(seen()).toBe("");
	const said = (name: string) => readFileSync(join(folder, name), "utf8");
	expect(said("elsewhere")).toMatch(/jobs that runs of job 1 add stay within its folder .*evil is not in there/);
	for (const id of ["nested", "child"]) expect((await client.call("job.show", { id })).job.input_patch).toBe(true);
	// A run without a repo, in a folder of its own: a repository in there is the run's.
	const own = `${evil(`${folder}/own/nested`)}; rm -f ${folder}/program.witness; cd nested; ${add} --capture-diff -- true > ${folder}/own.said 2>&1 || true`;
	mkdirSync(join(folder, "own"));
	const command = ["/bin/sh", "-ec", own];
	const { job } = (await client.call("job.add", { command, cwd: join(folder, "own"), env: { HOME: home.path } })) as {
		job: { id: number };
	};
	await until(async () => (await client.call("job.show", { id: job.id })).job.status === "succeeded");
	expect(said("own.said")).toContain("a run can name its worktree or the folder of a registered repo");
	expect(seen()).toBe("");
	expect((await client.call("job.list", { all: true })).jobs).toHaveLength(4);
});

describe("configured by the owner, it works", () => {
	const FILTER = ["filter.up.clean", "tr a-z A-Z", "filter.up.smudge", "tr A-Z a-z"];
	const pairs = (all: readonly string[]) => all.flatMap((key, at) => (at % 2 === 0 ? [[key, all[at + 1] as string] as const] : []));
	const set = (repo: { git(...args: string[]): string }, all: readonly string[]) => {
		for (const [key, value] of pairs(all)) repo.git("config", key, value);
	};

	test.each([
		["a filter, such as that of LFS", (repo: ReturnType<typeof makeRepository>) => set(repo, FILTER)],
		[
			"a filter in a file that is included",
			(repo: ReturnType<typeof makeRepository>) => {
				const more = join(makeFolder(), "more");
				for (const [key, value] of pairs(FILTER)) execFileSync("git", ["config", "--file", more, key, value]);
				repo.git("config", "include.path", more);
			},
		],
		[
			"a filter by attributes of the owner's own",
			(repo: ReturnType<typeof makeRepository>) => {
				const file = join(makeFolder(), "attributes");
				writeFileSync(file, "*.up filter=up\n");
				set(repo, [...FILTER, "core.attributesFile", file]);
			},
		],
	])("%s", { timeout: 60_000 }, async (_, configure) => {
		const { repo, merged } = await openRepo();
		repo.commit({ ".gitattributes": "*.up filter=up\n" });
		configure(repo);
		expect(await merged("echo word > x.up")).toMatchObject({ merge_status: "merged" });
		expect([repo.git("cat-file", "blob", "main:x.up"), repo.read("x.up")]).toEqual(["WORD", "word\n"]);
	});

	test("a merge driver", { timeout: 60_000 }, async () => {
		const { repo, merged } = await openRepo();
		repo.commit({ ".gitattributes": "same.txt merge=keep\n" });
		set(repo, ["merge.keep.driver", "true"]);
		const go = join(makeFolder(), "go");
		const ending = merged(`echo theirs > same.txt; touch ${go}.ready; until test -e ${go}; do sleep 0.01; done`);
		await until(() => existsSync(`${go}.ready`));
		repo.commit({ "same.txt": "ours\n" });
		writeFileSync(go, "");
		expect(await ending).toMatchObject({ merge_status: "merged" });
	});

	test("core.sshCommand: a repo by URL is cloned and pushed through it", { timeout: 60_000 }, async () => {
		const folder = makeFolder();
		const origin = makeRepository();
		execFileSync("git", ["clone", "-q", "--bare", origin.path, join(folder, "origin.git")], { stdio: "ignore" });
		const ssh = join(folder, "ssh.sh");
		writeFileSync(ssh, `#!/bin/sh\necho "$*" >> ${folder}/asked\nfor last; do :; done\nexec sh -c "$last"\n`, { mode: 0o755 });
		const global = join(folder, "gitconfig");
		execFileSync("git", ["config", "--file", global, "core.sshCommand", ssh]);
		const home = new TestHome();
		home.make(`repos: ${JSON.stringify({ r: { url: `ssh://host.invalid${join(folder, "origin.git")}`, base_branch: "main" } })}\n`);
		const { client } = await home.up({ GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: global });
		const { job } = (await client.call("job.add", { command: ["sh", "-c", "echo made > made.txt"], repo: "r", commit: "auto" })) as {
			job: { id: number };
		};
		await until(async () => (await client.call("job.show", { id: job.id })).job.merge_status === "merged");
		expect(execFileSync("git", ["--git-dir", join(folder, "origin.git"), "show", "main:made.txt"], { encoding: "utf8" })).toBe("made\n");
		expect(readFileSync(join(folder, "asked"), "utf8")).toContain("git-receive-pack");
	});

	test("a credential helper is asked for an address that needs a password", { timeout: 60_000 }, async () => {
		const folder = makeFolder();
		const helper = join(folder, "helper.sh");
		writeFileSync(helper, '#!/bin/sh\ntest "$1" = get && printf "username=ann\\npassword=from-the-helper\\n"\n', { mode: 0o755 });
		const global = join(folder, "gitconfig");
		execFileSync("git", ["config", "--file", global, "credential.helper", helper]);
		const given: string[] = [];
		const server = createServer((request, response) => {
			if (request.headers.authorization !== undefined)
				given.push(Buffer.from(request.headers.authorization.slice("Basic ".length), "base64").toString());
			response.writeHead(401, { "WWW-Authenticate": 'Basic realm="git"' }).end();
		});
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		onTestFinished(() => void server.close());
		const home = new TestHome();
		home.make();
		const { client } = await home.up({ GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: global });
		const { port } = server.address() as { port: number };
		await expect(client.call("repo.add", { url: `http://127.0.0.1:${port}/x.git`, name: "x" })).rejects.toThrow(/cannot be read/);
		expect(given).toContain("ann:from-the-helper");
	});
});
