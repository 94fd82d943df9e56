// Runs the suites of real agent programs as an ordinary user, from root: `node test/agents/as-user.mjs [--uid 1000] [vitest's arguments…]`.
//
// Programs treat root apart: Claude Code refuses bypassPermissions, Gemini CLI trusts files that root owns. The user gets a folder of its own with a copy of this
// checkout (tests build into it) and of the installed programs, and a home in there; nothing of root's is read but node_modules.

import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const args = process.argv.slice(2);
const at = args.indexOf("--uid");
const uid = at < 0 ? 1000 : Number(args.splice(at, 2)[1]);
if (process.getuid() !== 0 || !(uid > 0)) {
	process.stderr.write("as-user.mjs is started by root and needs the number of another user: node test/agents/as-user.mjs --uid 1000\n");
	process.exit(2);
}

// Not below /tmp: some of the programs trust nothing in a folder that others can write to.
mkdirSync("/var/lib/sluice-agents", { recursive: true, mode: 0o755 });
const folder = mkdtempSync("/var/lib/sluice-agents/user-");
const [checkout, home] = [join(folder, "checkout"), join(folder, "home")];
const cache = join(home, ".cache", "sluice-agents");
for (const path of [checkout, cache]) mkdirSync(path, { recursive: true });
try {
	const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: ROOT, maxBuffer: 1 << 26 });
	const packed = execFileSync("tar", ["-c", "--null", "-T", "-", "--ignore-failed-read"], { cwd: ROOT, input: files, maxBuffer: 1 << 30 });
	execFileSync("tar", ["-x", "-C", checkout], { input: packed });
	if (existsSync(join(ROOT, "dist"))) execFileSync("cp", ["-r", join(ROOT, "dist"), checkout]);
	// vitest writes into node_modules: a folder of its own, with what is in there as links.
	mkdirSync(join(checkout, "node_modules"));
	for (const name of readdirSync(join(ROOT, "node_modules")))
		if (!name.startsWith(".vite")) symlinkSync(resolve(ROOT, "node_modules", name), join(checkout, "node_modules", name));
	const installed = process.env.SLUICE_AGENT_CACHE ?? join(homedir(), ".cache", "sluice-agents");
	for (const name of existsSync(installed) ? readdirSync(installed) : [])
		if (/^\w+-\d/.test(name)) execFileSync("cp", ["-r", join(installed, name), cache]);
	execFileSync("chown", ["-R", `${uid}:${uid}`, folder]);
	chownSync(folder, uid, uid);
	const vitest = [join(checkout, "node_modules/vitest/vitest.mjs"), "run", "--config=test/agents/vitest.config.ts", "--reporter=default"];
	const env = { HOME: home, PATH: process.env.PATH, USER: `user${uid}` };
	const ended = spawnSync(
		"setpriv",
		[`--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", process.execPath, ...vitest, "--reporter=./test/agents/table.ts", ...args],
		{ cwd: checkout, env, stdio: "inherit" },
	);
	process.exitCode = ended.status ?? 1;
} finally {
	rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
