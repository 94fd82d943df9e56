// Notifications: which events cause one, to a command and to a webhook; a failure is logged and has no other consequence.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../../test/make/daemons/daemon.ts";
import { makeFolder } from "../../../test/make/folder.ts";
import { openStand } from "../../../test/make/stand.ts";
import { SILENT } from "../../contracts/log.ts";
import { localHost } from "../../host/local.ts";
import { NOTIFY_ON, type NotifySettings } from "../config/settings.ts";
import { startNotify } from "./notify.ts";

/** Timers that fire when the test says so. */
class Patience {
	private calls = new Set<() => void>();
	after = (_ms: number, call: () => void) => {
		this.calls.add(call);
		return () => void this.calls.delete(call);
	};
	pass(): void {
		for (const call of [...this.calls]) {
			this.calls.delete(call);
			call();
		}
	}
	get size(): number {
		return this.calls.size;
	}
}

/** Fires the timer of a quiet batch at once, so that no test waits for it. */
const atOnce: Pick<typeof localHost, "after"> = { after: (ms, call) => localHost.after(ms === 5000 ? 0 : ms, call) };

async function open(settings: NotifySettings[], path = "/usr/bin:/bin", host: Pick<typeof localHost, "after"> = atOnce) {
	const t = await openStand({ config: { accounts: { work: {} }, repos: { app: {} } } });
	const warned: string[] = [];
	const log = {
		...SILENT,
		warn: (message: string, fields?: Record<string, unknown>) => void warned.push(`${message} ${fields?.by} ${fields?.error}`),
	};
	onTestFinished(startNotify({ scheduler: t.sluice, settings: () => settings, host, log, env: () => ({ PATH: path }), cwd: "/" }));
	return { t, warned };
}

test("each kind of notification reaches a webhook that wants it", async () => {
	const heard: { kind: string; title: string; job: number | null; batch: string | null }[] = [];
	const server = createServer((request, response) => {
		let body = "";
		request.on("data", (chunk) => {
			body += chunk;
		});
		request.on("end", () => {
			heard.push(JSON.parse(body));
			response.end();
		});
	}).listen(0, "127.0.0.1");
	onTestFinished(() => void server.close());
	await until(() => server.listening);
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
	const { t } = await open([{ kind: "webhook", url, on: NOTIFY_ON.filter((one) => !/succeeded|ended/.test(one)) }]);
	const good = await t.add({ batch: "night", title: "Paint it" });
	const bad = await t.add({ title: "Break it" });
	const asks = await t.add({ agent: "claude", prompt: "go", name: "asker" });
	await t.start();
	await t.succeed(good);
	await t.fail(bad);
	await t.end(asks, "needs_human", { question: "which one?" });
	const careful = await t.add({ name: "careful", requires_approval: true });
	await t.sluice.limit("work", { retry_after_ms: 1000 });
	await t.sluice.limit("work", { closed: "log in again" });
	await t.sluice.grant("owner:ann", "tokens", { limit: 10 });
	await t.sluice.charge("owner:ann", "tokens", 20);
	const [torn, mended] = [await t.add({ repo: "app", name: "torn" }), await t.add({ repo: "app", name: "mended" })];
	await t.start();
	for (const id of [torn, mended]) await t.succeed(id);
	await t.sluice.merged(mended, "conflict", { message: "a.txt changed on both sides", follow_up: true });
	await t.sluice.merged(torn, "conflict", { message: "a.txt changed on both sides" });
	await until(() => heard.length >= 9);
	expect(new Set(heard.map(({ kind, title, job, batch }) => JSON.stringify([kind, title, job, batch])))).toEqual(
		new Set(
			[
				["batch_done", "Batch night is done", null, "night"],
				["budget", "owner:ann has used up its tokens", null, null],
				["budget", "owner:ann is near the end of its tokens", null, null],
				["job_failed", `job ${bad} (Break it) has failed`, bad, null],
				["limit", "Account work is limited", null, null],
				["needs_human", "Account work needs a person", null, null],
				["needs_human", `job ${careful} (careful) needs approval`, careful, null],
				["needs_human", `job ${asks} (asker) needs a person`, asks, null],
				["needs_human", `job ${torn} (torn) is not merged: conflict`, torn, null],
			].map((one) => JSON.stringify(one)),
		),
	);
});

test("a command gets notifications by its environment and on standard input, and only those it wants", async () => {
	const out = join(makeFolder(), "out");
	const command = ["/bin/sh", "-c", `printf '%s|%s|' "$SLUICE_NOTICE" "$SLUICE_JOB" > ${out}.new; cat >> ${out}.new; mv ${out}.new ${out}`];
	const { t } = await open([{ kind: "command", command, on: ["job_failed"] }]);
	const good = await t.add({ batch: "b" });
	const bad = await t.add();
	await t.start();
	await t.succeed(good);
	await t.fail(bad);
	const text = await until(() => {
		try {
			return readFileSync(out, "utf8");
		} catch {
			return undefined;
		}
	});
	const [kind, job, json] = text.split("|");
	expect([kind, job, JSON.parse(json as string)]).toMatchObject(["job_failed", String(bad), { schema_version: 1, text: "failed" }]);
});

test("the desktop is notified by the system's own program, with text that cannot be taken for an option", async () => {
	const folder = makeFolder();
	const out = join(folder, "out");
	for (const name of ["notify-send", "osascript"])
		writeFileSync(join(folder, name), `#!/bin/sh\nprintf '%s\\n' "$@" > ${out}.new; mv ${out}.new ${out}\n`, { mode: 0o755 });
	const { t } = await open([{ kind: "desktop", on: ["job_failed"] }], `${folder}:/usr/bin:/bin`);
	const bad = await t.add({ title: "--help me" });
	await t.start();
	await t.fail(bad);
	const words = (await until(() => (existsSync(out) ? readFileSync(out, "utf8") : undefined))).trimEnd().split("\n");
	expect(words.slice(-2)).toEqual([`job ${bad} (--help me) has failed`, "failed"]);
	if (process.platform !== "darwin") expect(words.slice(0, 2)).toEqual(["--app-name=sluice", "--"]);
});

test("a failed notification is logged, and the other receivers get theirs", async () => {
	const on: NotifySettings["on"] = ["job_failed"];
	const { t, warned } = await open([
		{ kind: "webhook", url: "http://127.0.0.1:1/nobody", on },
		{ kind: "command", command: ["/no/such/program"], on },
		{ kind: "command", command: ["false"], on },
	]);
	const bad = await t.add();
	await t.start();
	await t.fail(bad);
	await until(() => warned.length === 3);
	expect(warned.sort()).toEqual([
		"a notice could not be given command false ended with 1",
		expect.stringMatching(/^a notice could not be given command .*ENOENT/),
		expect.stringMatching(/^a notice could not be given webhook /),
	]);
});

/** A command that writes each notification into a separate file, and a function that reads them. */
function collector() {
	const folder = makeFolder();
	const command = ["/bin/sh", "-c", `cat > ${folder}/.new.$$; mv ${folder}/.new.$$ ${folder}/$$`];
	const notices = () =>
		readdirSync(folder)
			.filter((name) => !name.startsWith("."))
			.map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as { kind: string; title: string; text: string; data: unknown });
	return { command, notices };
}

test("a batch is reported once it is quiet, with the number of unsuccessful jobs; a batch that is filled job by job is reported once", async () => {
	const { command, notices } = collector();
	const patience = new Patience();
	const { t } = await open([{ kind: "command", command, on: ["batch_done"] }], "/usr/bin:/bin", patience);
	const first = await t.add({ batch: "b" });
	await t.start();
	await t.succeed(first);
	await until(() => patience.size === 1);
	const bad = await t.add({ batch: "b" });
	const blocked = await t.add({ batch: "b", after: [bad] });
	// The batch is open when the wait ends, so nothing is sent.
	patience.pass();
	await t.start();
	await t.fail(bad);
	expect((await t.sluice.show(blocked)).status).toBe("blocked_by_dependency");
	await until(() => patience.size === 1);
	patience.pass();
	const [notice, ...more] = await until(() => (notices().length > 0 ? notices() : undefined));
	expect(notice).toMatchObject({ title: "Batch b is done", text: "3 jobs: 1 failed, 1 blocked", data: { total: 3 } });
	expect(more).toEqual([]);
});

test("`job_ended` and `job_succeeded` can be asked for", async () => {
	const { command, notices } = collector();
	const { t } = await open([{ kind: "command", command, on: ["job_succeeded", "job_ended"] }]);
	const [good, bad] = [await t.add({ name: "good" }), await t.add({ name: "bad" })];
	await t.start();
	await t.succeed(good);
	await t.fail(bad);
	await until(() => notices().length === 3);
	expect(
		notices()
			.map(({ title }) => title)
			.sort(),
	).toEqual([`job ${good} (good) has ended: succeeded`, `job ${good} (good) has succeeded`, `job ${bad} (bad) has ended: failed`]);
});
