// Webhooks on a real scheduler, with a pretended receiver: order, filters, repeats, masks, leaders.

import { createHmac } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { openStand, type Stand } from "../../../test/make/stand.ts";
import { until } from "../../../test/make/until.ts";
import { SILENT } from "../../contracts/log.ts";
import type { HttpAnswer, HttpPost } from "../../contracts/webhook.ts";
import { usualOf } from "../../core/schema/setting.ts";
import { WEBHOOKS, type WebhookSettings } from "../../core/schema/webhook.ts";
import { localHost, systemClock } from "../../host/local.ts";
import { webhookChecks } from "./checks.ts";
import { DaemonWebhooks, type WebhookParts } from "./index.ts";

const SECRET = "a secret of this test, long enough";
const settings = (more: Partial<WebhookSettings> = {}): WebhookSettings => ({
	...usualOf(WEBHOOKS.entry),
	url: "http://127.0.0.1:9/hook/key-in-path",
	secret: "env:HOOK",
	...more,
});

type Received = { seq: number; kind: string; job: number | null; body: string; headers: Record<string, string> };

/** `answer` may fail or refuse. */
function receiver(answer: (one: Received) => number | Error = () => 200) {
	const got: Received[] = [];
	const post = async ({ body, headers }: HttpPost): Promise<HttpAnswer> => {
		const { event } = JSON.parse(body);
		const one = { seq: event.seq, kind: event.kind, job: event.job, body, headers };
		got.push(one);
		const status = answer(one);
		if (status instanceof Error) throw status;
		return { status, retryAfter: undefined, text: "" };
	};
	return { got, post };
}

async function open(
	t: Stand,
	post: WebhookParts["request"]["post"],
	configured: Record<string, WebhookSettings>,
	more: Partial<WebhookParts> = {},
	start: "at once" | "later" = "at once",
) {
	const env: Record<string, string> = { HOOK: SECRET };
	const webhooks = new DaemonWebhooks({
		scheduler: t.sluice,
		host: localHost,
		clock: systemClock,
		chance: () => 0.999,
		unique: () => "u",
		log: SILENT,
		request: {
			post,
			reveal: (text) => {
				const value = env[text.replace("env:", "")];
				return text.startsWith("env:") ? (value === undefined ? { problem: "is not set" } : { value }) : { value: text };
			},
			now: systemClock.now,
			version: "1",
		},
		queue: async () => "q1",
		secretNames: () => ["*_KEY"],
		company: "alone",
		...more,
	});
	await webhooks.reload(configured);
	if (start === "at once") webhooks.start();
	onTestFinished(() => webhooks.stop());
	return { webhooks, env };
}

/** Resolves when the webhooks have been started: what happens from then on is sent. */
const started = (t: Stand, ...names: string[]) =>
	until(async () => {
		const records = await t.sluice.webhooks.read();
		return names.every((name) => records[name]);
	});

const settled = (webhooks: DaemonWebhooks) =>
	until(async () => (await webhooks.list()).every(({ waiting, behind }) => waiting === 0 && behind === 0));

test("every event from now on, signed, with an id of its own and a summary of its job", async () => {
	const t = await openStand();
	await t.add({ name: "before" });
	const { got, post } = receiver();
	const { webhooks } = await open(t, post, { ci: settings() });
	await started(t, "ci");
	const id = await t.done({ name: "build", env: { API_KEY: "sk-1234", PLAIN: "visible" }, command: ["make", "private"], batch: "night" });
	await settled(webhooks);
	expect(got.filter(({ job }) => job === id).map(({ kind }) => kind)).toEqual(["added", "run_now", "started", "ended"]);
	expect(got.some(({ kind, job }) => kind === "added" && job !== id)).toBe(false);
	const last = got.find(({ kind }) => kind === "ended") as Received;
	const document = JSON.parse(last.body);
	expect(document).toMatchObject({
		schema_version: 1,
		id: `q1/ci/${last.seq}`,
		queue: "q1",
		webhook: "ci",
		event: { kind: "ended", job: id, data: { to: "succeeded" } },
		job: { id, name: "build", batch: "night", status: "succeeded", exit_code: 0 },
	});
	expect(last.headers).toMatchObject({ "sluice-event": "ended", "sluice-delivery": document.id, "sluice-attempt": "1" });
	const [, time, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(last.headers["sluice-signature"] ?? "") ?? [];
	expect(createHmac("sha256", SECRET).update(`${time}.${last.body}`).digest("hex")).toBe(v1);
	for (const word of ["sk-1234", "visible", "private", SECRET]) expect(JSON.stringify(got)).not.toContain(word);
	expect(await webhooks.list()).toMatchObject([
		{ name: "ci", to: "http://127.0.0.1:9", state: "idle", delivered: got.length, error: null },
	]);
	expect(JSON.stringify(await webhooks.list())).not.toContain("key-in-path");
});

test("filters: kinds, statuses, lanes, batches", async () => {
	const t = await openStand({ config: { lanes: { default: {}, code: {} } } });
	const { got, post } = receiver();
	const { webhooks } = await open(t, post, {
		ci: settings({ events: ["ended"], statuses: ["failed"], lanes: ["code"], batches: ["night"] }),
	});
	await started(t, "ci");
	await t.done({ lane: "code", batch: "night" });
	await t.done({ lane: "default", batch: "night" }, "failed");
	const wanted = await t.done({ lane: "code", batch: "night" }, "failed");
	await settled(webhooks);
	expect(got.map(({ kind, job }) => [kind, job])).toEqual([["ended", wanted]]);
});

test("a dead receiver holds up no other webhook; its events go out once it is back, in the order of each job", async () => {
	const t = await openStand();
	let isBack = false;
	const dead = receiver(() => (isBack ? 200 : new Error("connect ECONNREFUSED")));
	const well = receiver();
	const { webhooks } = await open(t, (request) => (request.url.includes("dead") ? dead : well).post(request), {
		dead: settings({ url: "http://127.0.0.1/dead" }),
		well: settings({ url: "http://127.0.0.1/well" }),
	});
	await started(t, "dead", "well");
	const ids = [await t.done(), await t.done()];
	await until(() => well.got.filter(({ kind }) => kind === "ended").length === 2);
	const failing = await until(async () => (await webhooks.list()).find(({ name, error }) => name === "dead" && error !== null));
	expect(failing).toMatchObject({ state: "failing", error: "connect ECONNREFUSED", delivered: 0 });
	expect(webhookChecks(await webhooks.list())).toMatchObject([
		{ name: "webhook dead", ok: false, detail: expect.stringContaining("ECONNREFUSED") },
		{ name: "webhook well", ok: true },
	]);
	isBack = true;
	dead.got.length = 0;
	await webhooks.retry("dead", { by: "ann" });
	await settled(webhooks);
	for (const id of ids)
		expect([...new Set(dead.got.filter(({ job }) => job === id).map(({ kind }) => kind))]).toEqual([
			"added",
			"run_now",
			"started",
			"ended",
		]);
	expect((await t.events()).at(-1)).toMatchObject({ kind: "webhook_retried", by: "ann", data: { webhook: "dead" } });
});

test("the next daemon goes on where the last one was, also with what had failed", async () => {
	const t = await openStand();
	const first = receiver(({ kind }) => (kind === "ended" ? 400 : 200));
	const before = await open(t, first.post, { ci: settings() });
	await started(t, "ci");
	const refused = await t.done();
	await until(() => first.got.some(({ kind }) => kind === "ended"));
	await before.webhooks.stop();
	const missed = await t.done();
	const second = receiver();
	const { webhooks } = await open(t, second.post, { ci: settings() });
	await until(() => second.got.some(({ job, kind }) => job === missed && kind === "ended"));
	await settled(webhooks);
	const seen = second.got.map(({ job, kind }) => `${job} ${kind}`);
	expect(seen).toContain(`${refused} ended`);
	expect(seen).toEqual(expect.arrayContaining([`${missed} added`, `${missed} started`, `${missed} ended`]));
	expect(seen).not.toContain(`${refused} started`);
});

test("sent again from an event on", async () => {
	const t = await openStand();
	const { got, post } = receiver();
	const { webhooks } = await open(t, post, { ci: settings({ events: ["added"] }) });
	await started(t, "ci");
	const [a, b, c] = [await t.add(), await t.add(), await t.add()];
	await settled(webhooks);
	const from = got.find(({ job }) => job === b)?.seq as number;
	got.length = 0;
	await webhooks.retry("ci", { by: "ann", from });
	await until(() => got.length === 2);
	expect(got.map(({ job }) => job).sort()).toEqual([b, c]);
	expect(got.some(({ job }) => job === a)).toBe(false);
});

test("a secret that is missing, empty or short sends nothing and is said; once it is there, everything goes", async () => {
	const t = await openStand();
	const { got, post } = receiver();
	const { webhooks, env } = await open(t, post, { ci: settings({ secret: "env:NONE" }) });
	await started(t, "ci");
	await t.add();
	const [view] = await until(async () => {
		const views = await webhooks.list();
		return views[0]?.error ? views : undefined;
	});
	expect(view).toMatchObject({ state: "failing", problem: "secret: is not set" });
	expect(webhookChecks([view as NonNullable<typeof view>])).toMatchObject([{ ok: false, detail: "secret: is not set" }]);
	expect(await webhooks.test("ci")).toMatchObject({ delivered: false, status: null, error: "secret: is not set" });
	env.NONE = "short";
	expect((await webhooks.list())[0]?.problem).toContain("shorter than 16");
	expect(got).toEqual([]);
	env.NONE = `${SECRET}\nthe older secret of this test`;
	await webhooks.reload({ ci: settings({ secret: "env:NONE" }) });
	await until(() => got.length > 0);
	expect(got[0]?.headers["sluice-signature"]).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
});

test("a test event goes out beside the queue; an unknown webhook is refused", async () => {
	const t = await openStand();
	const { got, post } = receiver(({ kind }) => (kind === "test" ? 503 : 200));
	const { webhooks } = await open(t, post, { ci: settings() });
	expect(await webhooks.test("ci")).toMatchObject({ delivered: false, status: 503, error: "it answered 503" });
	expect(got[0]).toMatchObject({ kind: "test", seq: 0, job: null });
	await expect(webhooks.test("cj")).rejects.toMatchObject({ code: "not_found", hint: expect.stringContaining("ci") });
});

test("in company only the leader sends; a host that becomes it goes on", async () => {
	const t = await openStand();
	let leader = "a";
	const leads = (name: string) => ({ ...t.sluice, leads: async () => leader === name });
	const [a, b] = [receiver(), receiver()];
	const more = { company: "others" as const };
	await open(t, a.post, { ci: settings({ events: ["added"] }) }, { ...more, scheduler: leads("a") });
	await started(t, "ci");
	await open(t, b.post, { ci: settings({ events: ["added"] }) }, { ...more, scheduler: leads("b") });
	const first = await t.add();
	await until(() => a.got.length === 1);
	leader = "b";
	const second = await until(async () => {
		await t.add();
		return b.got.length > 0 ? b.got : undefined;
	});
	expect(a.got[0]?.job).toBe(first);
	// Each event reached one of them at least.
	const all = new Set([...a.got, ...b.got].map(({ job }) => job));
	expect(all.size).toBeGreaterThanOrEqual(Math.max(...second.map(({ job }) => job ?? 0)) - first);
});

test("a disabled webhook sends nothing, and afterwards what it missed", async () => {
	const t = await openStand();
	const { got, post } = receiver();
	const { webhooks } = await open(t, post, { ci: settings({ enabled: false, events: ["added"] }) });
	await started(t, "ci");
	const id = await t.add();
	expect(await webhooks.list()).toMatchObject([{ state: "off" }]);
	expect(got).toEqual([]);
	await webhooks.reload({ ci: settings({ events: ["added"] }) });
	await until(() => got.some(({ job }) => job === id));
});

test("a new webhook gets what happens from its configuration on, though nothing is sent before the daemon is up", async () => {
	const t = await openStand();
	await t.add();
	const { got, post } = receiver();
	const { webhooks } = await open(t, post, { ci: settings({ events: ["added"] }) }, {}, "later");
	const id = await t.add();
	expect(got).toEqual([]);
	webhooks.start();
	await until(() => got.length > 0);
	expect(got.map(({ job }) => job)).toEqual([id]);
});
