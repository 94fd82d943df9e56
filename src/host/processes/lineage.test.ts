// The ancestors of a caller and their marks, from /proc and from ps(1), for a real tree of processes.

import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { hasProc, procTable } from "./proc.ts";
import { findPrograms } from "./programs.ts";
import { psTable } from "./ps.ts";

/** A shell with a mark and below it a shell with an empty environment, which prints its pid. */
async function makeTree(): Promise<{ outer: number; inner: number }> {
	const child = spawn("/bin/sh", ["-c", "exec 3<&0; env -i /bin/sh -c 'echo $$; read _' <&3; :"], {
		env: { PATH: process.env.PATH ?? "", SLUICE_MARK: "abc-7.1" },
		stdio: ["pipe", "pipe", "inherit"],
	});
	onTestFinished(() => void child.stdin.end());
	const inner = await new Promise<number>((resolve) => child.stdout.once("data", (chunk) => resolve(Number(chunk))));
	return { outer: child.pid as number, inner };
}

const ps = findPrograms().ps ?? "/bin/ps";
const TABLES = [...(hasProc() ? [["/proc", procTable()] as const] : []), ...(existsSync(ps) ? [["ps", psTable(ps)] as const] : [])];

describe.each(TABLES)("%s", (name, table) => {
	const startOf = (pid: number) => (name === "/proc" ? table.startOf(pid) : null);

	test("goes up from the caller to the daemon, with the mark of each", async () => {
		const { outer, inner } = await makeTree();
		expect(await table.lineage({ pid: inner, start: startOf(inner) })).toEqual([
			{ pid: inner, mark: null },
			{ pid: outer, mark: "abc-7.1" },
		]);
	});

	test("goes up to the first process, where the daemon is no ancestor", async () => {
		const found = await table.lineage({ pid: process.ppid, start: startOf(process.ppid) });
		expect(found[0]?.pid).toBe(process.ppid);
		expect(found.at(-1)?.pid).toBe(1);
	});

	test("a process that is not there has no lineage", async () => {
		expect(await table.lineage({ pid: 4_000_000_000, start: startOf(4_000_000_000) })).toEqual([]);
	});
});

test.skipIf(!hasProc())("a pid whose process began at another time is another process", async () => {
	const table = procTable();
	const pid = process.ppid;
	const start = table.startOf(pid) as string;
	expect((await table.lineage({ pid, start }))[0]?.pid).toBe(pid);
	expect(await table.lineage({ pid, start: String(Number(start) - 1) })).toEqual([]);
	expect(await table.lineage({ pid, start: null })).toEqual([]);
	expect(readFileSync(`/proc/${pid}/stat`, "latin1")).toContain(` ${start} `);
});
