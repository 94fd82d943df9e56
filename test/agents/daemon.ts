// A real daemon with accounts of an agent program, spoken to through the command line as a person would.

import type { ChildProcess } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import type { JobDocument } from "../../src/api/documents.ts";
import type { Permission } from "../../src/core/agents/profile.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import type { Place } from "./place.ts";
import { MODELS, PERMISSIONS, type Sandbox } from "./sandbox.ts";

export type Account = { state: string; until: string | null; reason: string | null };
/** What a run's folder says of its end. */
export type RunOutcome = {
	exit_kind: string;
	outcome: string;
	session: string | null;
	account: string | null;
	until?: number;
	retry_after_ms?: number;
	outage?: boolean;
	last_message?: string;
	usage: { tokens: number; input_tokens: number; output_tokens: number; cached_tokens: number; cost_micro: number | null };
};

/** `permission`: the one that the program has the tests' tools at, unless another is named. `repo`: in a worktree of it instead of a folder. */
export type Wish = { permission?: Permission | "default"; repo?: string; flags?: string[] };

/** After a reset, before the account is used again. */
export const MARGIN_MS = 300;

/** The lane whose jobs run on whichever account is open. */
export const POOL = "pool";

export class AgentDaemon {
	private readonly home = new TestHome();
	private constructor(
		private readonly place: Place,
		private readonly work: string,
		private readonly env: Record<string, string>,
	) {}

	/** `settings`: what its configuration has besides. */
	static async open(place: Place, accounts: Record<string, Sandbox>, settings: Record<string, unknown> = {}): Promise<AgentDaemon> {
		const env = Object.values(accounts)[0]?.env ?? {};
		const daemon = new AgentDaemon(place, place.workFolder(), env);
		const config = {
			accounts: Object.fromEntries(Object.entries(accounts).map(([name, { home }]) => [name, { home }])),
			lanes: { [POOL]: { accounts: Object.keys(accounts) } },
			rate_limit: { margin_ms: MARGIN_MS, stagger_ms: 100 },
			agent_retry: { max: 2, base_ms: 500, cap_ms: 500 },
			// Longer than Gemini CLI waits before its second attempt.
			agent_patience_ms: 8000,
			// What jobs are given that no `--env` goes with: those of a recipe.
			agents: { [place.agent]: { env } },
			...settings,
		};
		daemon.home.make(stringify(config));
		await daemon.up();
		// Charged with all that is used, and far from ever stopping anything.
		for (const dim of ["tokens", "cost_micro"]) await daemon.say("budget", "grant", "owner:ann", dim, "1000000000");
		return daemon;
	}

	/** Starts the daemon, also after it was killed. */
	async up(): Promise<void> {
		await this.home.up({ PATH: this.place.path });
	}

	/** The daemon dies, as if the machine's memory had run out; its runs do not notice. */
	async kill(): Promise<void> {
		await this.home.kill(this.home.daemons.at(-1) as ChildProcess);
	}

	/** One command, which has to go well. */
	async say(...words: string[]): Promise<string> {
		const said = await this.home.run(words, { cwd: this.work, env: { ...this.env, PATH: this.place.path } });
		if (said.code !== 0) throw new Error(`sluice ${words.join(" ")} ended with ${said.code}: ${said.err}\n${this.home.log()}`);
		return said.out;
	}

	async ask<T>(...words: string[]): Promise<T> {
		return JSON.parse(await this.say(...words, "--json")) as T;
	}

	/** Adds a job for the agent, on an account or in the lane that may use any; its number. */
	async add(where: string, prompt: string, wish: Wish | Permission = {}): Promise<number> {
		const { permission, repo, flags = [] } = typeof wish === "string" ? { permission: wish } : wish;
		const env = Object.entries({ PATH: this.place.path, ...this.env }).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
		const { agent } = this.place;
		const on = where === POOL ? ["--lane", POOL] : ["--account", where];
		const may = permission === "default" ? [] : ["--permission", permission ?? PERMISSIONS[agent]];
		const how = ["--agent", agent, "--model", MODELS[agent], ...may, ...on, "--owner", "ann"];
		const at = repo === undefined ? ["--cwd", this.work] : ["--repo", repo];
		// By a file: a prompt may be longer than an argument.
		const file = join(this.place.folder, "prompt.txt");
		writeFileSync(file, prompt);
		const { job } = await this.ask<{ job: JobDocument }>("add", ...how, ...at, ...env, ...flags, "--prompt-file", file);
		return job.id;
	}

	async show(id: number): Promise<JobDocument> {
		return (await this.ask<{ job: JobDocument }>("show", String(id))).job;
	}

	async list(): Promise<JobDocument[]> {
		return (await this.ask<{ jobs: JobDocument[] }>("list", "--all")).jobs;
	}

	async ended(id: number): Promise<JobDocument> {
		return until(async () => {
			const job = await this.show(id);
			return job.ended_at === null ? undefined : job;
		});
	}

	/** Until its work is merged. */
	async merged(id: number): Promise<JobDocument> {
		return until(async () => {
			const job = await this.show(id);
			if (job.ended_at !== null && (job.status !== "succeeded" || job.merge_status === "kept"))
				throw new Error(`job ${id} ended as ${job.status}, ${job.merge_status}: ${job.end_reason}`);
			return job.merge_status === "merged" ? job : undefined;
		});
	}

	async account(name: string): Promise<Account> {
		const { accounts } = await this.ask<{ accounts: (Account & { name: string })[] }>("account", "list");
		return accounts.find((one) => one.name === name) as Account;
	}

	/** Until it asks a person; what it asks. */
	async asks(id: number): Promise<JobDocument> {
		return until(async () => {
			const job = await this.show(id);
			if (job.ended_at !== null) throw new Error(`job ${id} ended as ${job.status} instead of asking: ${job.end_reason}`);
			return job.question === null ? undefined : job;
		});
	}

	async reasons(id: number): Promise<string[]> {
		const { reasons } = await this.ask<{ reasons: { code: string }[] }>("why", String(id));
		return reasons.map(({ code }) => code);
	}

	async used(dim: "tokens" | "cost_micro"): Promise<number> {
		const { budgets } = await this.ask<{ budgets: { dim: string; used: number }[] }>("budget", "list");
		return budgets.find((one) => one.dim === dim)?.used ?? 0;
	}

	/** A run's own account of its end, once there is one. */
	async outcome(id: number, attempt: number): Promise<RunOutcome> {
		const path = join(this.home.path, "runs", String(id), String(attempt), "outcome.json");
		return until(() => {
			try {
				return JSON.parse(readFileSync(path, "utf8")) as RunOutcome;
			} catch {
				return undefined;
			}
		});
	}

	log(id: number, attempt: number, stream: "stdout" | "stderr"): string {
		return readFileSync(join(this.home.path, "runs", String(id), String(attempt), `${stream}.log`), "utf8");
	}

	file = (name: string) => join(this.work, name);

	/** Processes that a run of this daemon has started and that still live. */
	leftovers = () => this.home.leftovers();
}
