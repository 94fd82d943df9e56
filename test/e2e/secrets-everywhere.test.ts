// One secret in every field that can carry one, then every document that a viewer can ask for, every view of the command line, the log and the files of runs.

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { METHODS, type MethodName } from "../../src/api/protocol.ts";
import { SECRET_NAMES } from "../../src/api/secrets.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";
import { makeRepository } from "../make/repository.ts";

/** Each is found by its own text: `forAll` no document shows, `forViewers` operators and runs see as it is. */
class Planted {
	readonly forAll: string[] = [];
	readonly forViewers: string[] = [];
	private add(to: string[], place: string): string {
		to.push(`hush-${place}-${to.length}-hush`);
		return to.at(-1) as string;
	}
	all = (place: string) => this.add(this.forAll, place);
	viewers = (place: string) => this.add(this.forViewers, place);
	seenIn = (text: string, hidden: readonly string[]) => hidden.filter((one) => text.includes(one));

	/** A name for each pattern that is masked by default. */
	variables(place: string): Record<string, string> {
		const named = SECRET_NAMES.map((pattern) => [pattern.replaceAll("*", "X"), this.all(`${place}.${pattern.replaceAll("*", "X")}`)]);
		return {
			...Object.fromEntries(named),
			DB_URL: `postgres://u:${this.all(`${place}.url`)}@h/db`,
			GIT_URL: `https://${this.all(`${place}.user`)}@h/x`,
			HOOK: `https://h/?token=${this.all(`${place}.query`)}`,
			LOOKS: `sk-${this.all(`${place}.looks`)}`,
		};
	}
	payload = (place: string) => ({
		plain: "shown",
		password: this.viewers(`${place}.password`),
		deep: [{ apiKey: this.viewers(`${place}.apiKey`), "access-token": this.viewers(`${place}.token`) }],
		url: `https://u:${this.viewers(`${place}.url`)}@h`,
	});
}

async function openAll() {
	const planted = new Planted();
	const [repo, folder] = [makeRepository(), makeFolder()];
	mkdirSync(join(repo.path, "recipes"));
	const address = (place: string, shape: (secret: string) => string) => shape(planted.all(place));
	const add = (place: string) => ({
		command: ["true"],
		env: planted.variables(`${place}.env`),
		vars: planted.variables(`${place}.vars`),
		payload: planted.payload(`${place}.payload`),
	});
	const config = {
		accounts: { paid: { env: { ANTHROPIC_API_KEY: `file:${folder}/key` } } },
		repos: {
			r: { path: repo.path, verify: ["curl", address("verify", (secret) => `https://u:${secret}@h`)] },
			quote: { url: address("quote", (secret) => `https://u:pa'${secret}@h.invalid/x`) },
			ssh: { url: address("ssh", (secret) => `ssh://u:${secret}@h.invalid/x`) },
			at: { url: address("at", (secret) => `https://u:p@${secret}@h.invalid/x`) },
			query: { url: address("query", (secret) => `https://h.invalid/x?access_token=${secret}`) },
		},
		notify: [
			{ kind: "webhook", on: ["needs_human"], url: `http://127.0.0.1:9/services/${planted.all("webhook")}` },
			{ kind: "command", on: ["job_succeeded", "job_failed"], command: ["sh", "-c", `(env; cat) >> ${folder}/noticed`] },
		],
		cron: { nightly: { schedule: "0 3 * * *", add: add("cron") } },
		watches: { files: { paths: [join(folder, "watched")], add: add("watch") } },
		kernel: { enabled: true },
	};
	writeFileSync(join(folder, "key"), planted.all("account"), { mode: 0o600 });
	const home = new TestHome();
	home.make(JSON.stringify(config));
	mkdirSync(join(home.path, "recipes"));
	const vars = { api_token: { default: planted.all("recipe.default") } };
	for (const place of [join(home.path, "recipes/own.yml"), join(repo.path, "recipes/theirs.yml")])
		writeFileSync(
			place,
			JSON.stringify({ ...add("recipe"), vars, command: ["echo", address("recipe.url", (secret) => `https://u:${secret}@h`)] }),
		);
	const up = await home.up({ GIT_CONFIG_NOSYSTEM: "1" });
	await until(() => existsSync(join(home.path, "daemon.json")));
	const { port } = JSON.parse(readFileSync(join(home.path, "daemon.json"), "utf8")) as { port: number };
	const viewer = readFileSync(join(home.path, "viewer-token"), "utf8").trim();
	const ask = (path: string, body?: object) =>
		new Promise<{ status: number; text: string }>((resolve, reject) => {
			const headers = { Authorization: `Bearer ${viewer}` };
			const out = request(
				{ host: "127.0.0.1", port, path, method: body ? "POST" : "GET", headers, agent: false },
				(response: IncomingMessage) => {
					let text = "";
					response.on("data", (chunk) => {
						text += chunk;
					});
					response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
				},
			);
			out.on("error", reject);
			out.end(body ? JSON.stringify(body) : undefined);
		});
	const events: string[] = [];
	const stream = request(
		{ host: "127.0.0.1", port, path: "/events?since=0", headers: { Authorization: `Bearer ${viewer}` }, agent: false },
		(response) => response.on("data", (chunk) => events.push(String(chunk))),
	);
	stream.on("error", () => {});
	stream.end();
	onTestFinished(() => void stream.destroy());
	return { ...up, home, repo, folder, planted, ask, events, add };
}

/** What each method of a viewer's is asked; a method without a line here is asked without parameters. `null`: it only answers what it is told. */
const ASKED: Partial<Record<MethodName, readonly object[] | null>> = {
	...Object.fromEntries(
		["job.show", "job.why", "job.history", "job.logs", "job.outcome", "job.diff", "job.open"].map((name) => [
			name,
			["works", "fails", "told", "exact"].map((id) => ({ id })),
		]),
	),
	"job.list": [{ all: true }],
	"job.search": [{ text: "one" }],
	"job.attempts": [{ ids: ["works", "fails"] }],
	"job.select": [{ filter: { all: true } }],
	"job.graph": [{ job: "works" }, { all: true, format: "mermaid" }],
	"job.wait": [{ ids: ["works", "told"] }],
	"scheduler.run": [{ dry_run: true }],
	"session.auth": null,
	"recipe.check": null,
	"config.check": [{}],
	"agent.judge": null,
	"account.show": [{ name: "paid" }],
	"batch.list": [{ all: true }],
	"batch.show": [{ name: "some" }],
	"source.show": null,
	"recipe.list": [{}, { repo: "r" }],
	"recipe.show": [{ name: "own" }],
	"config.get": ["accounts", "repos", "notify", "cron", "watches", "store"].map((key) => ({ key })),
	"host.show": [{ name: "local" }],
	"agent.show": [{ name: "claude" }],
	"cron.show": [{ name: "nightly" }, { name: "files" }],
	"repo.show": ["r", "quote", "ssh", "at", "query"].map((name) => ({ name })),
	"kernel.sched.get": [{ sched_id: 1 }],
	"kernel.agent.get": null,
	"kernel.ledger.check": null,
	"kernel.ledger.get": null,
};

test("no secret that a field can carry reaches a viewer, a view, the log or a file of a run", { timeout: 180_000 }, async () => {
	const { client, home, folder, planted, ask, events, add } = await openAll();
	const { command: _command, ...given } = add("job");
	await client.call("config.set", {
		key: "store",
		value: `postgres://u:${planted.all("store")}@127.0.0.1:1/db?sslpassword=${planted.all("store.query")}`,
	});
	const sluice = `${process.execPath} ${TestHome.command()}`;
	const said = { OUR_TOKEN: planted.viewers("result"), HOME: home.path };
	await client.call("job.add", { name: "works", batch: "some", command: ["true"], repo: "r", no_merge: true, ...given });
	await client.call("job.add", { name: "fails", batch: "some", command: ["no-such-program-x"], retry: { max: 0 }, ...given } as never);
	await client.call("job.add", {
		name: "told",
		command: ["sh", "-c", `${sluice} result "{\\"db_password\\": \\"$OUR_TOKEN\\"}"`],
		env: said,
	});
	const exact = await home.run([
		"add",
		"--name",
		"exact",
		"--payload",
		`{"big": 12345678901234567890, "api_key": "${planted.viewers("exact")}"}`,
	]);
	expect(exact.code).toBe(0);
	for (const id of ["works", "told"]) await until(async () => (await client.call("job.show", { id })).job.status === "succeeded");
	await until(() => existsSync(join(folder, "noticed")));

	// The run's word and the payload are there, for an operator.
	expect(JSON.stringify(await client.call("job.list", { all: true }))).toContain(said.OUR_TOKEN);
	const missed: string[] = [];
	for (const [name, method] of Object.entries(METHODS) as [MethodName, { role: string }][]) {
		const asked = ASKED[name] === undefined ? [{}] : ASKED[name];
		if (method.role !== "viewer" || asked === null) continue;
		for (const params of asked) {
			const { status, text } = await ask("/rpc", { jsonrpc: "2.0", id: 1, method: name, params });
			expect([name, status]).toEqual([name, 200]);
			if (text.includes('"error":{')) missed.push(`${name} ${JSON.stringify(params)}: ${text}`);
			expect([name, params, planted.seenIn(text, [...planted.forAll, ...planted.forViewers])]).toEqual([name, params, []]);
		}
	}
	// Of a run that never was there is no log, outcome, diff.
	expect(missed.filter((line) => !/job\.(?:logs|outcome|diff|open) .*(?:fails|told|exact)|kernel/.test(line))).toEqual([]);
	for (const path of ["/metrics", "/", "/health"])
		expect([path, planted.seenIn((await ask(path)).text, [...planted.forAll, ...planted.forViewers])]).toEqual([path, []]);
	await until(() => events.join("").includes("succeeded"));
	expect(planted.seenIn(events.join(""), [...planted.forAll, ...planted.forViewers])).toEqual([]);

	const views = [
		"show works",
		"show fails --json",
		"why fails",
		"history works --json",
		"list --all --json",
		"export",
		"status --json",
		"logs works",
		"config list",
		"config list --json",
		"config get cron",
		"cron list --json",
		"cron show nightly",
		"recipe list --json",
		"recipe show own",
		"recipe list --repo r",
		"repo list",
		"repo show r",
		"repo show at --json",
		"repo list --json",
		"account list --json",
		"agent list --json",
		"host list --json",
		"doctor",
		"doctor --json",
		"batch show some --json",
		"graph works",
		"forecast --json",
		"sling nothing r",
		"config get store",
		"config set notify nonsense",
	];
	for (const view of views) {
		const { out, err } = await home.run(view.split(" "));
		expect([view, planted.seenIn(`${out}${err}`, planted.forAll)]).toEqual([view, []]);
	}
	expect(planted.seenIn(home.log(), [...planted.forAll, ...planted.forViewers])).toEqual([]);
	const files = readdirSync(join(home.path, "runs"), { recursive: true, encoding: "utf8" }).map((name) => join(home.path, "runs", name));
	for (const path of files.filter((one) => statSync(one).isFile()))
		expect([path, planted.seenIn(readFileSync(path, "utf8"), planted.forAll)]).toEqual([path, []]);
	if (existsSync(join(folder, "noticed")))
		expect(planted.seenIn(readFileSync(join(folder, "noticed"), "utf8"), planted.forAll)).toEqual([]);
});

test("names that the owner adds are masked, too", { timeout: 60_000 }, async () => {
	const home = new TestHome();
	home.make(
		JSON.stringify({
			secrets: [...SECRET_NAMES, "*_PIN"],
			cron: { c: { schedule: "0 3 * * *", add: { command: ["true"], env: { DOOR_PIN: "hush-cron" } } } },
		}),
	);
	const { client } = await home.up();
	await client.call("job.add", { command: ["true"], name: "one", env: { DOOR_PIN: "hush-job", PIN: "shown" } });
	const all = [await client.call("job.show", { id: "one" }), await client.call("config.list", {}), await client.call("cron.list", {})]
		.map((one) => JSON.stringify(one))
		.join("");
	expect(all).not.toContain("hush");
	expect(all).toContain('"PIN":"shown"');
});
