// What a job is parked on, in its stored form: values that earlier versions stored are read.

import { expect, test } from "vitest";
import { isOnBatch, isOnLock, isOnSerial, lockOf, onLock } from "./parked.ts";

test("a lock with any key comes back as it was", () => {
	for (const mode of ["shared", "exclusive"] as const)
		for (const key of ["db", "repo:a:b", "", "lock:shared:x", "ä/🙂"]) expect(lockOf(onLock(key, mode))).toEqual({ key, mode });
	expect(onLock("db", "exclusive")).toBe("lock:exclusive:db");
	expect(lockOf("time")).toBeUndefined();
	expect(isOnLock("batch:lock:shared:x")).toBe(false);
	expect(isOnBatch("batch:b")).toBe(true);
});

test("only a lock whose key begins with serial: is serial", () => {
	expect(isOnSerial("lock:exclusive:serial:deploy")).toBe(true);
	expect(isOnSerial("lock:exclusive:a:serial:")).toBe(false);
	expect(isOnSerial("")).toBe(false);
});
