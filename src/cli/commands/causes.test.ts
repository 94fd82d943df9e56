// What is printed for jobs that wait or have failed: the cause, by its name, and what to do next.

import { describe, expect, test } from "vitest";
import { ago, job, openCommandLine, QUEUED } from "../../../test/make/daemons/command-line.ts";

describe("the cause", () => {
	test("why of a blocked job points to the job that failed, however far back", async () => {
		const priority = { total: 0, terms: [] };
		const blocked = (id: number, by: number, policy = "success") =>
			job(id, { status: "blocked_by_dependency", after: [{ job: by, policy }] });
		const said = async (one: Record<string, unknown>, others: Record<string, unknown>[]) => {
			const line = await openCommandLine({
				"job.why": { job: one, reasons: [], position: null, priority },
				"job.list": ({ ids }) => ({ jobs: others.filter((other) => (ids as number[]).includes(other.id as number)) }),
			});
			return (await line.run(`why ${one.id}`)).out.trimEnd().split("\n").at(-1);
		};
		const chain = [blocked(2, 1), job(1, { status: "failed", name: "build", attempt: 1 })];
		expect(await said(blocked(3, 2), chain)).toBe(
			"  → see what became of job 1 (build): sluice why 1; once more from there: sluice retry 1",
		);
		// The predecessor succeeded, but the job waited for its failure: running it again would change nothing.
		expect(await said(blocked(3, 1, "failure"), [job(1, { status: "succeeded" })])).toBe(
			"  → job 1 did not end as it should for this one; add it anew if it is still wanted",
		);
		const missing = job(3, { status: "blocked_by_dependency", end_reason: "missing file:out/a.txt" });
		expect(await said(missing, [])).toBe("  → see to what is missing, then once more: sluice retry 3");
	});

	test("a job that could not be started says why, in list, show and why", async () => {
		const broken = job(7, {
			status: "failed",
			exit_kind: "launch_failed",
			exit_code: 1,
			end_reason: "circuit-broken",
			attempt: 3,
			last_failure: "no such program in PATH: nope",
		});
		const why = { job: broken, reasons: [], position: null, priority: { total: 0, terms: [] } };
		const line = await openCommandLine({ "job.list": { jobs: [broken] }, "job.show": { job: broken }, "job.why": why });
		const words = "could not be started, tried 3 times: no such program in PATH: nope";
		expect((await line.run("list --all")).out).toContain(words);
		expect((await line.run("show 7")).out.split("\n")[0]).toBe(`job 7  failed, ${words}`);
		expect((await line.run("why 7")).out).toBe(`Job 7 has ended: failed, ${words}.
  make test

  → fix it, then once more, with all that comes after it: sluice retry 7
`);
	});

	test("a job with an unusable record is to be added anew: neither a log nor a retry is suggested", async () => {
		const unusable = job(2, {
			status: "failed",
			exit_kind: "failed",
			exit_code: 1,
			end_reason: "unusable record: no JSON",
			attempt: 1,
			command: null,
			broken: "no JSON",
		});
		const why = { job: unusable, reasons: [], position: null, priority: { total: 0, terms: [] } };
		const line = await openCommandLine({ "job.why": why });
		const { out } = await line.run("why 2");
		expect(out).toContain("→ its record cannot be used: add the job anew\n");
		expect(out).not.toMatch(/sluice (logs|retry)/);
	});

	const LOCKED = [
		job(3, { status: "running", run: { started_at: ago(5000) }, locks: [{ key: "db", mode: "exclusive" }] }),
		job(4, {
			status: "waiting_on_locks",
			blocked: true,
			wait_reason: { kind: "locks", detail: "waiting on locks" },
			locks: [
				{ key: "db", mode: "exclusive" },
				{ key: "docs", mode: "shared" },
			],
		}),
		job(5, {
			status: "waiting_on_locks",
			blocked: true,
			wait_reason: { kind: "locks", detail: "waiting on locks" },
			locks: [{ key: "docs", mode: "shared" }],
		}),
	];
	const LOCKS = [
		{ key: "db", holders: [{ job: 3, mode: "exclusive" }], reserved_for: null },
		{ key: "docs", holders: [{ job: 9, mode: "shared" }], reserved_for: 8 },
	];

	test("list names the lock that a job waits for, and its holder", async () => {
		const line = await openCommandLine({ "job.list": { jobs: LOCKED }, "lock.list": { locks: LOCKS } });
		expect((await line.run("list")).out).toBe(`ID  STATUS             WHAT       LANE     AGE
 3   running           make test  default   3m  for 5s
 4  !waiting on locks  make test  default   3m  lock db, held by job 3
 5  !waiting on locks  make test  default   3m  lock docs, kept for job 8
`);
		expect(JSON.parse((await line.run("list --json")).out).jobs).toEqual(LOCKED);
		expect(line.asked.filter(({ method }) => method === "lock.list")).toHaveLength(1);
		const show = await openCommandLine({ "job.show": { job: LOCKED[1] }, "lock.list": { locks: LOCKS } });
		expect((await show.run("show 4")).out.split("\n")[0]).toBe("job 4  waiting on locks, lock db, held by job 3");
		// The lock was released meanwhile, or the daemon cannot list locks: print what the job itself says.
		for (const locks of [[], undefined]) {
			const free = await openCommandLine({ "job.list": { jobs: LOCKED }, ...(locks ? { "lock.list": { locks } } : {}) });
			expect((await free.run("list")).out).toContain("!waiting on locks  make test  default   3m  waiting on locks\n");
		}
	});

	test("add prints the cause at once", async () => {
		const line = await openCommandLine({
			...QUEUED,
			"job.add": { outcome: "queued", job: LOCKED[1], position: null },
			"lock.list": { locks: LOCKS },
		});
		expect((await line.run("add --lock db -- make test")).err).toBe("waiting on locks: lock db, held by job 3\n");
	});

	test("list explains its mark on a terminal", async () => {
		const line = await openCommandLine({ "job.list": { jobs: LOCKED }, "lock.list": { locks: LOCKS } });
		const stdout = { write: () => true, isTTY: true, columns: 100 };
		expect((await line.run("list", { stdout })).err).toBe("! waits for more than its turn; sluice why ID says for what\n");
		expect((await line.run("list --fields id,lane", { stdout })).err).toBe("");
		expect((await line.run("list")).err).toBe("");
	});

	test("logs of a run that was never started says so", async () => {
		const events = [
			{
				seq: 1,
				at: ago(0),
				kind: "requeued",
				job: 7,
				by: "d",
				data: { exit_kind: "launch_failed", attempt: 1, message: "no such program" },
			},
			{
				seq: 2,
				at: ago(0),
				kind: "ended",
				job: 7,
				by: "d",
				data: { exit_kind: "launch_failed", attempt: 2, end_reason: "circuit-broken" },
			},
		];
		const line = await openCommandLine({
			"job.logs": ({ run }) => ({ run: `7.${run ?? 2}`, text: "", next_offset: 0, eof: true, ended: true }),
			"job.history": { events },
			"job.show": { job: job(7, { status: "failed", last_failure: "still no such program" }) },
		});
		const never = (run: string, why: string) => ({ code: 0, out: "", err: `run ${run} was never started: ${why}\n` });
		expect(await line.run("logs 7")).toEqual(never("7.2", "still no such program"));
		expect(await line.run("logs 7 --run 1")).toEqual(never("7.1", "no such program"));
		expect(await line.run("logs 7 --run 3")).toEqual({ code: 0, out: "", err: "run 7.3 wrote nothing\n" });
	});

	test("wait says which job it was, and why it did not succeed", async () => {
		const jobs = [
			{ id: 1, name: "build", status: "succeeded", exit_code: 0, exit_kind: "completed", end_reason: null, last_failure: null },
			{ id: 2, name: null, status: "failed", exit_code: 3, exit_kind: "failed", end_reason: "so it goes", last_failure: "so it goes" },
			{
				id: 3,
				name: "x",
				status: "failed",
				exit_code: 1,
				exit_kind: "launch_failed",
				end_reason: "circuit-broken",
				last_failure: "no such program",
			},
			{
				id: 4,
				name: null,
				status: "blocked_by_dependency",
				exit_code: null,
				exit_kind: null,
				end_reason: "dependency failed for job 3 (failed)",
			},
			{ id: 6, name: null, status: "failed", exit_code: 2, exit_kind: "failed", end_reason: "exit code 2", last_failure: "exit code 2" },
			{ id: 5, name: null, status: "cancelled", exit_code: 143, exit_kind: "cancelled", end_reason: "cancelled", last_failure: null },
		];
		const line = await openCommandLine({ "job.wait": { jobs, done: true } });
		expect((await line.run("wait build 2 3 4")).err).toBe(`job 1 (build) succeeded
job 2 failed, exit code 3: so it goes
job 3 (x) failed: could not be started: no such program
job 4 blocked: dependency failed for job 3 (failed)
job 6 failed, exit code 2
job 5 cancelled, exit code 143
`);
	});
});
