// Under what conditions the numbers came about: machine, versions, file system, and what one fsync costs there.

import { execFileSync } from "node:child_process";
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release, totalmem } from "node:os";
import { join } from "node:path";
import { versionOf } from "../src/stores/sqlite/driver.ts";
import { openBare } from "./floor/bare.ts";
import { quantile } from "./statistics.ts";

export type Conditions = {
	date: string;
	commit: string;
	node: string;
	sqlite: string;
	cpu: string;
	cores: number;
	memory: string;
	kernel: string;
	load: string;
	folder: string;
	fileSystem: string;
	onDisk: boolean;
	fsync: string;
	transaction: string;
	rounds: number;
};

const FILE_SYSTEMS: Record<number, { name: string; disk: boolean }> = {
	61267: { name: "ext4", disk: true },
	1481003842: { name: "xfs", disk: true },
	2435016766: { name: "btrfs", disk: true },
	801189825: { name: "zfs", disk: true },
	26: { name: "apfs", disk: true },
	2035054128: { name: "overlayfs", disk: true },
	16914836: { name: "tmpfs", disk: false },
	2240043254: { name: "ramfs", disk: false },
};

export function conditions(folder: string, rounds: number): Conditions {
	const type = statfsSync(folder).type;
	const system = FILE_SYSTEMS[type] ?? { name: `type 0x${type.toString(16)}`, disk: true };
	return {
		date: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
		commit: commit(),
		node: process.version,
		sqlite: sqliteVersion(),
		cpu: cpus()[0]?.model.trim() ?? "unknown",
		cores: availableParallelism(),
		memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
		kernel: `${process.platform} ${release()}`,
		load: loadavg()
			.map((load) => load.toFixed(2))
			.join(" "),
		folder,
		fileSystem: system.name,
		onDisk: system.disk,
		fsync: fsyncCost(folder),
		transaction: transactionCost(folder),
		rounds,
	};
}

function commit(): string {
	try {
		const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
		return git("rev-parse", "--short", "HEAD") + (git("status", "--porcelain", "--", "src", "bench") === "" ? "" : " + changes");
	} catch {
		return "unknown";
	}
}

function sqliteVersion(): string {
	const db = openBare(":memory:");
	const version = versionOf(db);
	db.close();
	return version;
}

const spread = (ms: number[]) => `${quantile(ms, 0.5).toFixed(2)} ms (p99 ${quantile(ms, 0.99).toFixed(2)} ms)`;

function fsyncCost(folder: string): string {
	const path = join(folder, "fsync");
	const file = openSync(path, "w");
	const page = Buffer.alloc(4096, 1);
	const costs: number[] = [];
	for (let i = 0; i < 200; i++) {
		writeSync(file, page);
		const start = performance.now();
		fsyncSync(file);
		costs.push(performance.now() - start);
	}
	closeSync(file);
	rmSync(path);
	return spread(costs);
}

/** The smallest durable write SQLite can do here: what a single call costs at least when nobody shares its transaction. */
function transactionCost(folder: string): string {
	const path = join(folder, "transaction.db");
	const db = openBare(path);
	db.exec("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)");
	const insert = db.prepare("INSERT INTO t (b) VALUES (?)");
	const costs: number[] = [];
	for (let i = 0; i < 200; i++) {
		const start = performance.now();
		insert.run("b");
		costs.push(performance.now() - start);
	}
	db.close();
	for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
	return spread(costs);
}
