// Installs the agent programs from the npm registry into a cache folder, once for each version.
//
//   <cache>/<name>-<version>/node_modules/…   made under another name and renamed when it is whole
//   <cache>/bin-<versions>/<name>             links, so that one folder is put on the path

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { resolve as absolute, join } from "node:path";
import type { AgentName } from "../../src/core/agents/profile.ts";
import { type AgentProgram, agentProgram } from "./programs.ts";

export type Installed = { program: AgentProgram; path: string };

export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
	return absolute(env.SLUICE_AGENT_CACHE || join(env.XDG_CACHE_HOME || join(homedir(), ".cache"), "sluice-agents"));
}

/** Where a program lies when it is installed. */
function programPath(program: AgentProgram, cache: string): string {
	return join(cache, `${program.name}-${program.version}`, "node_modules", program.path);
}

export async function install(name: AgentName, version: string, cache: string): Promise<Installed> {
	const program = agentProgram(name, version, process);
	const path = programPath(program, cache);
	if (existsSync(path)) return { program, path };
	mkdirSync(cache, { recursive: true });
	const making = mkdtempSync(join(cache, `.making-${name}-`));
	try {
		writeFileSync(join(making, "package.json"), "{}");
		const flags = ["--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--no-save", "--loglevel=error"];
		await runNpm(["install", ...flags, ...program.packages], making);
		const made = join(making, "node_modules", program.path);
		if (!existsSync(made)) throw new Error(`${program.packages[0]} has no ${program.path}`);
		chmodSync(made, 0o755);
		const place = join(cache, `${program.name}-${program.version}`);
		// Another may have been quicker; what it made is as good.
		if (!existsSync(place)) renameSync(making, place);
	} finally {
		rmSync(making, { recursive: true, force: true });
	}
	return { program, path };
}

/** A folder with one link for each program, for a path that holds nothing else of this machine's agents. */
export function binFolder(installed: Installed[], cache: string): string {
	const key = createHash("sha256")
		.update(installed.map(({ path }) => path).join("\n"))
		.digest("hex")
		.slice(0, 12);
	const folder = join(cache, `bin-${key}`);
	if (existsSync(folder)) return folder;
	const making = mkdtempSync(join(cache, ".making-bin-"));
	for (const { program, path } of installed) symlinkSync(path, join(making, program.name));
	if (existsSync(folder)) rmSync(making, { recursive: true, force: true });
	else renameSync(making, folder);
	return folder;
}

function runNpm(args: string[], cwd: string): Promise<void> {
	return new Promise((resolve, reject) => {
		const child = spawn("npm", args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
		let said = "";
		for (const stream of [child.stdout, child.stderr]) {
			stream.on("data", (chunk) => {
				said += chunk;
			});
		}
		child.once("error", (error) => reject(new Error(`npm cannot be started: ${error.message}`)));
		child.once("close", (code) => {
			if (code === 0) resolve();
			else reject(new Error(`npm ${args.join(" ")} ended with ${code}: ${said.trim().split("\n").slice(-5).join(" | ")}`));
		});
	});
}
