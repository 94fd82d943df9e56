// A program that takes a home's lock and keeps it until it dies; says `held`, or why not.

import { takeLock, writeRecord } from "../../src/daemon/service/lock.ts";

const [lock = "", record = ""] = process.argv.slice(2);
try {
	takeLock(lock, record);
	writeRecord(record, { pid: process.pid, version: "9.9.9", port: null, started_at: "2030-01-01T00:00:00.000Z" });
	process.stdout.write("held\n");
	process.stdin.resume();
} catch (error) {
	process.stdout.write(`${error instanceof Error ? error.message : error}\n`);
}
