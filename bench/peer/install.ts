// Installs the queues that ours is measured beside from npm into a cache folder, once for each set of versions: only the bench wants them.
//
//   <cache>/peers-<versions>/node_modules/…   made under another name and renamed when it is whole
//
// SLUICE_BENCH_CACHE names the cache, else it is ~/.cache/sluice-bench.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

export const VERSIONS = { "pg-boss": "12.35.0", "graphile-worker": "0.17.3", bullmq: "6.7.0", ioredis: "6.0.0", pg: "8.23.1" } as const;
export type PeerPackage = keyof typeof VERSIONS;

let folder: string | undefined;

function install(): string {
	const cache = resolve(process.env.SLUICE_BENCH_CACHE || join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "sluice-bench"));
	const packages = Object.entries(VERSIONS).map(([name, version]) => `${name}@${version}`);
	const place = join(cache, `peers-${createHash("sha256").update(packages.join(" ")).digest("hex").slice(0, 12)}`);
	if (existsSync(place)) return place;
	mkdirSync(cache, { recursive: true });
	const making = mkdtempSync(join(cache, ".making-"));
	try {
		writeFileSync(join(making, "package.json"), "{}");
		const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--loglevel=error"];
		execFileSync("npm", ["install", ...flags, ...packages], { cwd: making, stdio: ["ignore", "ignore", "pipe"] });
		// Another may have been quicker; what it made is as good.
		if (!existsSync(place)) renameSync(making, place);
	} finally {
		rmSync(making, { recursive: true, force: true });
	}
	return place;
}

/** Null where it can be neither found nor installed. */
export async function peerPackage<Module>(name: PeerPackage): Promise<Module | null> {
	try {
		folder ??= install();
		const path = createRequire(join(folder, "package.json")).resolve(name);
		return (await import(pathToFileURL(path).href)) as Module;
	} catch (error) {
		console.error(`${name} ${VERSIONS[name]} is left out: ${(error as Error).message.split("\n")[0]}`);
		return null;
	}
}
