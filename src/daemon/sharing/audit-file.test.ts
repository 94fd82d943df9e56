// The record of calls on disk: newest first, filtered, bounded, kept across restarts, broken lines left out.

import { appendFileSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FakeClock } from "../../../test/make/fakes.ts";
import { makeFolder } from "../../../test/make/folder.ts";
import { localHost } from "../../host/local.ts";
import { openAudit } from "./audit-file.ts";

const ENTRY = { by: "anna", role: "operator", from: "10.0.0.7", method: "job.add", what: { job: 1 }, outcome: "ok", kind: "call" as const };
const ALL = { limit: 100, workers: "without" as const };

function opened(home = makeFolder(), mostBytes = 1_000_000) {
	const [clock, errors] = [new FakeClock(), [] as string[]];
	const audit = openAudit({ home, hostName: "mill", clock, host: localHost, log: { error: (text) => void errors.push(text) }, mostBytes });
	return { home, clock, errors, audit };
}

test("the newest first, by person, by method or noun, since a time; workers only when asked", () => {
	const { audit, clock } = opened();
	audit.note(ENTRY);
	clock.pass(1000);
	audit.note({ ...ENTRY, by: "otto", method: "job.cancel" });
	audit.note({ ...ENTRY, by: "w", method: "job.claim", kind: "worker" });
	clock.pass(1000);
	audit.note({ ...ENTRY, method: "config.set" });
	const methods = (filter: object) => audit.read({ ...ALL, ...filter }).map(({ method }) => method);
	expect(methods({})).toEqual(["config.set", "job.cancel", "job.add"]);
	expect(methods({ limit: 1 })).toEqual(["config.set"]);
	expect(methods({ by: "otto" })).toEqual(["job.cancel"]);
	expect(methods({ method: "job" })).toEqual(["job.cancel", "job.add"]);
	expect(methods({ since: clock.now() })).toEqual(["config.set"]);
	expect(methods({ workers: "with" })).toContain("job.claim");
	expect(audit.read(ALL)[0]).toMatchObject({ host: "mill", at: clock.now(), by: "anna", from: "10.0.0.7" });
});

test("survives a restart, and a line that was broken off", () => {
	const { home, audit } = opened();
	audit.note(ENTRY);
	audit.close();
	expect(statSync(join(home, "audit.jsonl")).mode & 0o777).toBe(0o600);
	appendFileSync(join(home, "audit.jsonl"), '{"at":1,"by":"bro\n');
	const next = opened(home).audit;
	next.note({ ...ENTRY, by: "otto" });
	expect(next.read(ALL).map(({ by }) => by)).toEqual(["otto", "anna"]);
});

test("is bounded: a full file is renamed, and the one before goes", () => {
	const { home, audit } = opened(undefined, 2000);
	for (let n = 0; n < 100; n++) {
		audit.note({ ...ENTRY, what: { job: n } });
		audit.read({ ...ALL, limit: 1 });
	}
	const sizes = ["audit.jsonl", "audit.jsonl.1"].map((name) => statSync(join(home, name)).size);
	expect(Math.max(...sizes)).toBeLessThan(2400);
	expect(existsSync(join(home, "audit.jsonl.2"))).toBe(false);
	expect(audit.read(ALL)[0]?.what).toEqual({ job: 99 });
});

test("a home that cannot be written stops nothing, and is reported once", () => {
	const { audit, errors } = opened(join(makeFolder(), "gone"));
	for (let n = 0; n < 3; n++) {
		audit.note(ENTRY);
		audit.read(ALL);
	}
	expect(errors).toEqual(["calls cannot be written into the record of calls"]);
});
