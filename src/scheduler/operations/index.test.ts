// Operations that few other tests call, with all arguments and results sent through JSON. And the engine's report of what became of each.

import { expect, onTestFinished, test } from "vitest";
import { FakeHost } from "../../../test/make/fakes.ts";
import { jsonCore } from "../../../test/make/json-core.ts";
import { openStand, type Stand, type StandOptions } from "../../../test/make/stand.ts";
import { chance, localHost, systemClock } from "../../host/local.ts";
import { JsonText } from "../../index.ts";
import { openSqlite } from "../../stores/sqlite/store.ts";
import { createLibrary } from "../library/index.ts";
import { createSettings } from "../library/settings.ts";
import { Engine } from "../transaction/group-commit.ts";
import { engineCore } from "./core.ts";

const open = (options: StandOptions = {}): Promise<Stand> => openStand(options, jsonCore);

test("triggers: armed, fired by a slot and by hand, passed, disarmed", async () => {
	const { sluice, clock } = await open();
	await sluice.arm("nightly", "v1");
	const slot = clock.now() + 1000;
	expect(await sluice.fire("nightly", { slot, job: { command: ["true"] } })).toEqual({ outcome: "added", job: 1 });
	expect(await sluice.fire("nightly", { slot, job: { command: ["true"] } })).toEqual({ outcome: "past" });
	expect(await sluice.fire("nightly", { job: { command: ["true"] } })).toEqual({ outcome: "open", job: 1 });
	await sluice.fire("nightly", { slot: slot + 1, error: "no such lane" });
	expect(await sluice.triggers()).toMatchObject([{ name: "nightly", job: 1, skipped: 1, error: "no such lane" }]);
	await sluice.disarm("nightly");
	expect(await sluice.triggers()).toEqual([]);
});

test("a manifest in pieces: facts that were probed for it are learnt, and applied again with update it changes what waits", async () => {
	const host = new FakeHost();
	host.facts.set("artifact:file:/in", false);
	const { sluice } = await open({ host, piece: 2, config: { on_missing: "wait" } });
	const manifest = (priority: number) => ({
		batch: "b",
		jobs: ["x", "y", "z"].map((name, index) => ({
			name,
			command: ["true"],
			cwd: "/",
			priority,
			needs: ["file:/in"],
			...(index > 0 ? { after: ["x"] } : {}),
		})),
	});
	expect(await sluice.apply(manifest(0))).toMatchObject({ jobs: [1, 2, 3], names: { x: 1, y: 2, z: 3 } });
	const updated = await sluice.apply(manifest(5), { update: true });
	expect(updated.updated).toEqual(["x", "y", "z"].map((name, index) => ({ name, job: index + 1 })));
	expect((await sluice.show(3)).priority).toBe(5);
});

test("the leases of several runs are renewed with one call, which names those that are over", async () => {
	const engine = new Engine({
		...{ store: openSqlite(":memory:"), clock: systemClock, host: localHost, chance, by: "test" },
		config: createSettings({}).in,
	});
	const core = jsonCore(engineCore(engine));
	onTestFinished(() => core.close());
	const sluice = await createLibrary({ drive: "manual" }, { core, settings: createSettings({}), clock: systemClock, host: localHost });
	for (const n of [1, 2]) await sluice.add({ payload: { n } });
	const [first, second] = await sluice.claim({ worker: "w", max: 2 });
	const runs = [first, second].map((one) => ({ job: one?.job.id ?? 0, token: one?.run.token ?? 0 }));
	expect(await core.call("extendAll", { runs })).toEqual([]);
	await sluice.complete({ ...(runs[0] as (typeof runs)[0]), exit_kind: "completed", exit_code: 0 });
	expect(await core.call("extendAll", { runs })).toEqual([1]);
});

test("a kernel's payloads that JavaScript cannot represent arrive as they were written", async () => {
	const { sluice } = await open({ preset: "kernel" });
	const exact = '{"n":12345678901234567890}';
	const { pid } = await sluice.kernel.agent.create({ name: "a" });
	const { sched_id } = await sluice.kernel.enqueue({ pid, payload: new JsonText(exact) });
	expect(await sluice.kernel.get({ sched_id })).toMatchObject({ payload_json: exact });
	const entry = {
		...{ pid: 7, priority: 0, runnable_at: 0, deadline: null, trigger: "manual", state: "queued", worker_id: null },
		...{ created_at: 1, dispatched_at: null, completed_at: null, exit_kind: null },
	};
	const entries = [
		{ ...entry, sched_id: 1, payload: { n: 1 } },
		{ ...entry, sched_id: 2, payload: new JsonText(exact) },
	];
	const dump = { agents: [{ pid: 7, name: "b", state: "READY" }], ledgers: [], entries };
	expect(await sluice.kernel.import(dump, { numbers: "new" })).toMatchObject({ agents: 1, entries: { queued: 2 } });
	const listed = (await sluice.kernel.list({ pid: pid + 1 })).entries;
	expect(listed.map(({ payload, payload_json }) => payload_json ?? payload)).toEqual([{ n: 1 }, exact]);
});

/** A host whose timers come. */
class TimedHost extends FakeHost {
	override after(ms = 0, call = () => {}): () => void {
		return localHost.after(ms, call);
	}
}

test("a question to a host, its answer, and the output that is kept of a run", async () => {
	const t = await open({ join: { name: "a" }, host: new TimedHost() });
	const { outputs } = t.sluice;
	onTestFinished(outputs.answer(async () => ({ path: "/w" })));
	expect(await outputs.inquire("a", { what: "place", job: 1 }, 5000)).toEqual({ path: "/w" });
	const job = await t.done();
	const log = { size: 0, parts: [] };
	const kept = { version: 1, run: `${job}.1`, host: "a", kept_at: 1, output: "command", outcome: null, patch: null, place: null } as const;
	await outputs.keep(job, 1, { ...kept, stdout: log, stderr: log });
	expect(await outputs.read(job, 1)).toEqual({ ...kept, stdout: log, stderr: log });
});

test("single calls: the store's id, a host's repos, an account, a breaker, a cycle, a batch; a large cancel that is refused", async () => {
	const t = await open({ config: { accounts: { one: {} }, cycle_interval: "1h" }, piece: 1 });
	const { sluice } = t;
	expect([await sluice.identify("x"), await sluice.identify("y")]).toEqual(["x", "x"]);
	await sluice.offer(["r"]);
	expect(await sluice.hosts()).toMatchObject([{ repos: ["r"] }]);
	await sluice.clearAccount("one");
	expect(await sluice.closeBreaker({ repo: "r" })).toBe(false);
	const job = await t.add({ batch: "b", owned: true });
	await sluice.tick({ cycle: "now" });
	expect(await t.start()).toEqual([job]);
	expect(await sluice.closeBatch("b")).toMatchObject({ open: 1, owned: false });
	expect(await sluice.edit(job, { set: {} }).catch(({ code }) => code)).toBe("illegal_transition");
	const edited = await t.add({ payload: new JsonText('{"n":1}'), needs: ["custom:a:b"], on_missing: "wait" });
	const exact = '{"n":12345678901234567890}';
	const set = { priority: 3, after: [job], payload: new JsonText(exact) };
	expect(await sluice.edit(edited, { set, unset: ["needs"] })).toMatchObject({
		changed: ["payload", "after", "needs", "priority"],
		job: { priority: 3, after: [{ job }], spec: { payload_json: exact } },
	});
	const held = await t.add({ hold: true });
	expect(await sluice.hold([held], { reason: "x" })).toEqual({ done: [held], refused: [] });
	expect(await sluice.freeze([job], { reason: "x" })).toEqual({ done: [job], refused: [] });
	expect((await sluice.show(job)).run?.frozen).toMatchObject({ reason: "x" });
	expect(await sluice.thaw([job])).toEqual({ done: [job], refused: [] });
	await sluice.signalled({ job, attempt: 1 }, "HUP", { by: "ann" });
	expect((await sluice.history(job)).at(-1)).toMatchObject({ kind: "signalled", by: "ann", data: { attempt: 1, signal: "HUP" } });
	expect(await sluice.release([held])).toEqual({ done: [held], refused: [] });
	const missing = Array.from({ length: 20 }, (_, index) => 100 + index);
	await expect(sluice.cancelAll(missing)).rejects.toMatchObject({ code: "not_found" });
});

test("a library on a core that its caller made", async () => {
	const options = { drive: "manual", config: {} } as const;
	const settings = createSettings(options);
	const parts = { store: openSqlite(":memory:"), clock: systemClock, host: localHost, chance };
	const core = engineCore(new Engine({ ...parts, by: "test", config: settings.in }));
	const sluice = await createLibrary(options, { ...parts, core: { ...core, leads: async () => false }, settings });
	onTestFinished(() => sluice.close());
	expect(await sluice.add({ command: ["true"] })).toMatchObject({ outcome: "queued", job: { id: 1 } });
	expect(await sluice.leads()).toBe(false);
});

test("the engine reports each value and each refusal before it commits", async () => {
	const told: string[] = [];
	const store = openSqlite(":memory:");
	const commit = store.commit.bind(store);
	store.commit = () => {
		told.push("commit");
		return commit();
	};
	const config = createSettings({}).in;
	const engine = new Engine({ store, clock: systemClock, host: localHost, chance, by: "test", config });
	onTestFinished(() => engine.close());
	const settled = (outcome: object) => void told.push(JSON.stringify(outcome));
	const core = engineCore(engine);
	const [one, other] = await Promise.allSettled([
		core.call("identify", { id: "x" }, { settled }),
		core.call("leave", () => ({ host: "a", life: 7 }), { settled }),
	]);
	expect([one.status, other.status]).toEqual(["fulfilled", "rejected"]);
	expect(told).toEqual(['{"value":"x"}', expect.stringContaining('{"error":{"code":"fenced"'), "commit"]);
});

test("people: one record for all hosts; of two callers with one link at the same moment, one is signed in", async () => {
	const { sluice } = await open();
	await sluice.people.change({ do: "add", name: "anna", role: "operator", link: "digest" }, { by: "owner" });
	const signIn = (session: string) => sluice.people.change({ do: "sign_in", link: "digest", session, from: "10.0.0.7" }, { by: "anna" });
	expect(await Promise.all([signIn("one"), signIn("two")])).toMatchObject([{ name: "anna", role: "operator" }, { why: "used" }]);
	expect((await sluice.people.read()).anna?.sessions.map(({ digest }) => digest)).toEqual(["one"]);
	await expect(sluice.people.change({ do: "remove", name: "ana" })).rejects.toMatchObject({ code: "not_found" });
	await sluice.people.change({ do: "remove", name: "anna" });
	expect(await sluice.people.read()).toEqual({});
	const changes: string[] = [];
	for await (const event of sluice.events({ since: 0 })) {
		if (event.kind === "people_changed") changes.push(`${event.by} ${event.data.change}`);
		if (changes.length === 3) break;
	}
	expect(changes).toEqual(["owner add", "anna sign_in", "library remove"]);
});

test("webhooks: one record for each, and an event for another try", async () => {
	const { sluice } = await open();
	const figures = {
		delivered: 1,
		given_up: 0,
		delivered_at: 5,
		delivered_seq: 2,
		failed_at: null,
		error: null,
		failures: 0,
		retry_at: null,
	};
	const record = { cursor: 2, pending: [], since: 1, ...figures };
	await sluice.webhooks.keep("ci", record);
	expect(await sluice.webhooks.read()).toEqual({ ci: record });
	await sluice.webhooks.retry("ci", { from: 1, by: "ann" });
	for await (const event of sluice.events({ since: 0 })) {
		if (event.kind !== "webhook_retried") continue;
		expect(event).toMatchObject({ by: "ann", data: { webhook: "ci", from: 1 } });
		break;
	}
});
