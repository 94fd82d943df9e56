// Two hosts with a record of calls each: one answer, and hosts that do not answer are named.

import { expect, test } from "vitest";
import { FakeClock } from "../../../test/make/fakes.ts";
import { makeFolder } from "../../../test/make/folder.ts";
import { localHost } from "../../host/local.ts";
import { openAudit } from "./audit-file.ts";
import { answerAudit, auditOfFleet } from "./audit-of-fleet.ts";

test("the calls of all hosts, the newest first, each with its host; hosts that are gone or silent are named", async () => {
	const clock = new FakeClock();
	const open = (hostName: string) => openAudit({ home: makeFolder(), hostName, clock, host: localHost, log: { error() {} } });
	const [here, there] = [open("here"), open("there")];
	const entry = { by: "anna", role: "admin", from: "socket", method: "job.add", what: {}, outcome: "ok", kind: "call" as const };
	for (const host of [here, there, here]) {
		host.note(entry);
		clock.pass(1000);
	}
	const audit = auditOfFleet({
		own: here,
		name: "here",
		hosts: async () => ["here", "there", "silent", "gone"].map((name) => ({ name, state: name === "gone" ? "gone" : "live" })),
		outputs: { inquire: async (host, question) => (host === "there" && question.what === "audit" ? answerAudit(there, question) : null) },
	});
	const { entries, missing } = await audit.read({ limit: 10, workers: "without" });
	expect(entries.map(({ host }) => host)).toEqual(["here", "there", "here"]);
	expect(missing).toEqual(["silent", "gone"]);
	expect((await audit.read({ limit: 1, workers: "without" })).entries).toHaveLength(1);
});
