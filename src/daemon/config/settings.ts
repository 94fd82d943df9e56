// The daemon's own settings: what config.yml may say besides the engine's keys. Type, meaning, default and check, as in core/config.ts.

import { isAbsolute } from "node:path";
import { SECRET_NAMES } from "../../api/secrets.ts";
import { SOURCE_KINDS, type SourceSettings } from "../../contracts/source.ts";
import type { RepoSettings } from "../../contracts/workspace.ts";
import { readAllow } from "../../core/agents/permissions/allowing.ts";
import { SluiceError } from "../../core/errors.ts";
import * as check from "../../core/input/check.ts";
import { cap, group, length, map, prefix, type Readers, type ValueReader, whole } from "../../core/input/config.ts";
import { ALLOWED } from "../../core/input/environment.ts";
import type { JobInput } from "../../core/job.ts";
import { fieldHint, JOB_FIELDS } from "../../core/job-fields.ts";
import { INPUT_KEYS } from "../../core/schema/job.ts";
import { readBranch } from "../../core/schema/job-values.ts";
import { CATCH_UPS, type CatchUp } from "../../core/time/slots.ts";
import { isTimezone } from "../../core/time/window.ts";
import { readTrust } from "../../core/trust/repo-files.ts";
import { readSchedule } from "../../host/schedule.ts";
import { readStore, readUrl } from "./addresses.ts";
import { ACCOUNT, type AccountSettings, type AgentSettings, agentReaders, argv, folder, someArgv, variables } from "./agents.ts";

/** The default of `on`; the other kinds must be named, since they come with every job. */
const NOTIFY_USUAL = ["batch_done", "job_failed", "needs_human", "limit", "budget"] as const;
export const NOTIFY_ON = [...NOTIFY_USUAL, "job_succeeded", "job_ended"] as const;
export type NotifyOn = (typeof NOTIFY_ON)[number];
/** `command`: argv, which gets the notification as JSON on standard input. `url`: receives it as a POST. */
export type NotifySettings = { on: NotifyOn[] } & (
	| { kind: "desktop" }
	| { kind: "command"; command: string[] }
	| { kind: "webhook"; url: string }
);

export type CronSettings = {
	/** A cron expression. */
	schedule: string;
	/** IANA name; null = the setting `timezone`. */
	timezone: string | null;
	/** What happens to missed slots. */
	catch_up: CatchUp;
	/** The job to add. */
	add: JobInput;
};
export type WatchSettings = {
	/** Absolute paths of files and folders. */
	paths: string[];
	/** How long the paths must be quiet before the job is added. */
	debounce_ms: number;
	add: JobInput;
};
type ProbeSettings = { command: string[] };

export type Settings = {
	/** A SQLite file, or postgres://…, that several hosts share; null = the home's own file. */
	store: string | null;
	/** This machine among the hosts of a shared store. Name: null = the machine's own name; `local` in a home with its own store. */
	host: { name: string | null; labels: string[] };
	/** HTTP on 127.0.0.1; 0 = any free port, null = none. */
	port: number | null;
	/** Variables that are captured from the caller at `add`; `*` stands for any characters. */
	env: string[];
	/** Variables whose values are masked wherever they are shown. */
	secrets: string[];
	/** Maximum size of each log of a run. */
	max_log_bytes: number;
	/** How many kilobytes of the end of each log are kept in a shared store, besides the first 64 kB; 0 = nothing is kept there. */
	logs: { shared_kb: number };
	/** How long run folders of ended jobs are kept. */
	log_retention_ms: number;
	/** Time between the agent's own signal and SIGTERM, and between SIGTERM and SIGKILL. */
	stop: { grace_int_ms: number; grace_term_ms: number };
	/** Defaults for jobs that set none; null = none. */
	timeout_ms: number | null;
	stall_timeout_ms: number | null;
	/** The stall timeout of agents whose output is read, where neither the job nor `stall_timeout_ms` sets one; null = none. */
	agent_stall_timeout_ms: number | null;
	/** An agent that itself waits for the end of a limit is stopped after this long; null = never. */
	agent_patience_ms: number | null;
	/** How long `down` waits for runs before it leaves or stops them. */
	down_grace_ms: number;
	agents: Record<string, AgentSettings>;
	accounts: Record<string, AccountSettings>;
	/** Where each repo is and how it is handled; `max` and `prefix` belong to the engine. */
	repos: Record<string, RepoSettings>;
	/** How long worktrees of ended jobs are kept; null = until they are merged or pruned. */
	worktree_retention_ms: number | null;
	/** Commands behind `probe:<name>`: the fact is present when the command exits with 0. */
	probes: Record<string, ProbeSettings>;
	/** Keeps the machine from going to sleep while jobs run. */
	keep_awake: "never" | "while_running";
	/** Run once for each repo after a cycle that started jobs: argv; empty = none. */
	hooks: { after_dispatch: string[] };
	/** The fields that `list` and `show` print, by their names in the JSON document; empty = the default ones. */
	display: { list: string[]; show: string[] };
	/** Sources of items of work. */
	sources: Record<string, SourceSettings>;
	/** Which notifications go where. */
	notify: NotifySettings[];
	/** Jobs that are added on a schedule. */
	cron: Record<string, CronSettings>;
	/** Jobs that are added when files change. */
	watches: Record<string, WatchSettings>;
};

export const SETTINGS: Settings = {
	store: null,
	host: { name: null, labels: [] },
	port: 7420,
	env: [...ALLOWED],
	secrets: [...SECRET_NAMES],
	max_log_bytes: 1_000_000_000,
	logs: { shared_kb: 256 },
	log_retention_ms: 30 * 86_400_000,
	stop: { grace_int_ms: 5000, grace_term_ms: 10_000 },
	timeout_ms: null,
	stall_timeout_ms: null,
	agent_stall_timeout_ms: 1_200_000,
	agent_patience_ms: 60_000,
	down_grace_ms: 10_000,
	agents: {},
	accounts: {},
	repos: {},
	worktree_retention_ms: 7 * 86_400_000,
	probes: {},
	keep_awake: "never",
	hooks: { after_dispatch: [] },
	display: { list: [], show: [] },
	sources: {},
	notify: [],
	cron: {},
	watches: {},
};

export const SOURCE_DEFAULT: SourceSettings = {
	kind: "cards",
	root: "",
	repo: null,
	watch: false,
	write_back: null,
	history_on_queue: false,
	lane: null,
	recipe: null,
	agent: null,
};

export const REPO: RepoSettings = {
	path: null,
	url: null,
	base_branch: null,
	verify: [],
	verify_timeout_ms: 30 * 60_000,
	allow: [],
	hooks: { after_create: [], before_run: [], after_run: [], before_remove: [] },
	hook_timeout_ms: 60_000,
	merge: "direct",
	merge_command: [],
	on_conflict: "report",
	recipe: null,
	trusted: false,
};

const BYTES: Record<string, number> = {
	"": 1,
	b: 1,
	kb: 1e3,
	mb: 1e6,
	gb: 1e9,
	tb: 1e12,
	kib: 2 ** 10,
	mib: 2 ** 20,
	gib: 2 ** 30,
	tib: 2 ** 40,
};

/** A number of bytes, or "500MB", "1GiB". */
const size: ValueReader<number> = (value, field) => {
	if (typeof value === "number") return check.integer(value, field, 0);
	const match = typeof value === "string" ? /^(\d{1,15}(?:\.\d{1,6})?) ?([kmgt]?i?b?)$/i.exec(value) : null;
	const unit = BYTES[match?.[2]?.toLowerCase() ?? "?"];
	if (!match || unit === undefined) throw check.wrong(field, `${check.shown(value)} is not a size`, 'for example 1000000, "500MB", "1GiB"');
	return check.integer(Math.round(Number(match[1]) * unit), field, 0);
};

const orNone =
	(read: ValueReader<number>): ValueReader<number | null> =>
	(value, field) =>
		value === null ? null : read(value, field, 0);

/** Names of variables, with `*` for any characters. */
const patterns: ValueReader<string[]> = (value, field) =>
	check.list(value, field, 1000).map((one, index) => {
		const text = check.text(one, `${field}[${index}]`, { max: 200, lines: "one" });
		if (!/^[A-Za-z_*][A-Za-z0-9_*]*$/.test(text))
			throw check.wrong(`${field}[${index}]`, `${check.shown(text)} is not the name of a variable`, 'for example "HOME" or "LC_*"');
		return text;
	});

const jobFields: ValueReader<string[]> = (value, field) =>
	check.list(value, field, 100).map((one, index) => {
		const name = check.label(one, `${field}[${index}]`);
		if (!JOB_FIELDS.includes(name)) throw check.wrong(`${field}[${index}]`, `there is no field ${check.shown(name)}`, fieldHint(name));
		return name;
	});

const labelOrNone: ValueReader<string | null> = (value, field) => (value === null ? null : check.label(value, field));
const flag: ValueReader<boolean> = (value, field) => check.flag(value, field);

const sourceMap = map<SourceSettings>(SOURCE_DEFAULT, {
	kind: (value, field) => check.oneOf(value, SOURCE_KINDS, field),
	root: (value, field) => {
		const path = check.text(value, field, { max: 4096, lines: "one" });
		if (!/^(?:\/|~\/)/.test(path)) throw check.wrong(field, `${check.shown(path)} is not a whole path`, "begin it with / or ~/");
		return path;
	},
	repo: labelOrNone,
	watch: flag,
	write_back: (value, field) => (value === null || value === false ? null : check.oneOf(value, ["agent_status", "status"] as const, field)),
	history_on_queue: flag,
	lane: labelOrNone,
	recipe: labelOrNone,
	agent: labelOrNone,
});

/** The field that each kind of source can write back. */
const WRITES = { cards: "agent_status", beads: "status", folder: null } as const;

const sources: ValueReader<Settings["sources"]> = (value, field, before) => {
	const all = sourceMap(value, field, before);
	for (const [name, { kind, root, write_back }] of Object.entries(all)) {
		if (root === "") throw check.wrong(`${field}.${name}.root`, "is missing", "the folder that the items are in");
		if (write_back !== null && write_back !== WRITES[kind])
			throw check.wrong(
				`${field}.${name}.write_back`,
				`${kind} cannot write back ${write_back}`,
				WRITES[kind] === null ? "leave it out" : `${WRITES[kind]} is what can be written`,
			);
	}
	return all;
};

const notify: ValueReader<NotifySettings[]> = (value, field) =>
	check.list(value, field, 50).map((one, index) => {
		const at = `${field}[${index}]`;
		const given = check.record(one, at);
		check.knownKeys(given, ["kind", "on", "command", "url"], at);
		const kind = check.oneOf(given.kind, ["desktop", "command", "webhook"], `${at}.kind`);
		const on =
			given.on === undefined
				? [...NOTIFY_USUAL]
				: check.list(given.on, `${at}.on`, 20).map((word, place) => check.oneOf(word, NOTIFY_ON, `${at}.on[${place}]`));
		if (kind === "desktop") return { kind, on };
		if (kind === "command") return { kind, on, command: someArgv(given.command ?? [], `${at}.command`, []) };
		const url = check.text(given.url, `${at}.url`, { max: 2000, lines: "one" });
		if (!/^https?:\/\/[^\s/]+/.test(url))
			throw check.wrong(`${at}.url`, `${check.shown(url)} is not an address`, 'for example "http://127.0.0.1:8080/hook"');
		return { kind, on, url };
	});

const zone: ValueReader<string | null> = (value, field) => {
	if (value === null) return null;
	const name = check.text(value, field, { max: 60, lines: "one" });
	if (!isTimezone(name)) throw check.wrong(field, `${check.shown(name)} is not a time zone`, 'for example "Europe/Berlin"');
	return name;
};

const schedule: ValueReader<string> = (value, field) => {
	const text = check.text(value, field, { max: 200, lines: "one" });
	try {
		readSchedule(text, "UTC");
	} catch (error) {
		if (!(error instanceof SluiceError)) throw error;
		throw check.wrong(field, error.message.replace(/^schedule: /, ""), error.hint);
	}
	return text;
};

/** Checks only the keys. The rest is checked when the job is added, since lanes and repos may change until then. */
const jobInput: ValueReader<JobInput> = (value, field) => {
	const given = check.record(check.json(value, field), field);
	check.knownKeys(given, INPUT_KEYS, field);
	for (const key of ["name", "trigger"])
		if (given[key] !== undefined) throw check.wrong(`${field}.${key}`, "cannot be chosen: each slot has a job of its own", "leave it out");
	if (given.command === undefined && given.agent === undefined && given.payload === undefined && given.recipe === undefined)
		throw check.wrong(field, "nothing to run", "give a command, an agent with a prompt, or a payload");
	return given as JobInput;
};

/** A map by name whose entries must have certain keys. */
function triggers<T extends object>(fresh: T, readers: Readers<T>, needed: readonly (keyof T & string)[]): ValueReader<Record<string, T>> {
	const read = map<T>(fresh, readers);
	return (value, field, before) => {
		const all = read(value, field, before);
		for (const [name, one] of Object.entries(all))
			for (const key of needed)
				if (one[key] === fresh[key])
					throw check.wrong(`${field}.${name}.${key}`, "is missing", "docs/reference/config.md says what it takes");
		return all;
	};
}

const paths: ValueReader<string[]> = (value, field) =>
	check.list(value, field, 100).map((one, index) => {
		const path = check.text(one, `${field}[${index}]`, { max: 4096, lines: "one" });
		if (!isAbsolute(path))
			throw check.wrong(`${field}[${index}]`, `${check.shown(path)} does not begin at the root`, "write the whole path");
		return path;
	});

/** The keys that a repo's own sluice.yml may have. */
export const REPO_FILE_READERS = {
	base_branch: (value: unknown, field: string) => (value === null ? null : readBranch(value, field)),
	verify: argv,
	verify_timeout_ms: length,
	allow: (value: unknown, field: string) => readAllow(value, field),
	hooks: group<RepoSettings["hooks"]>({ after_create: argv, before_run: argv, after_run: argv, before_remove: argv }),
	hook_timeout_ms: length,
	merge: (value: unknown, field: string) => check.oneOf(value, ["direct", "mr", "local"] as const, field),
	merge_command: argv,
	on_conflict: (value: unknown, field: string) => check.oneOf(value, ["report", "follow_up"] as const, field),
	recipe: (value: unknown, field: string) => (value === null ? null : check.label(value, field)),
};

/** The keys of sluice.yml that belong to the engine. */
export const REPO_ENGINE_READERS = { max: cap, prefix };

const repoMap = map<RepoSettings>(REPO, { ...REPO_FILE_READERS, path: folder, url: readUrl, trusted: readTrust });

const repos: ValueReader<Settings["repos"]> = (value, field, before) => {
	const all = repoMap(value, field, before);
	for (const [name, one] of Object.entries(all))
		if (one.path !== null && one.url !== null)
			throw check.wrong(
				`${field}.${name}`,
				"has a path and a url",
				"give one of them: a folder of this host, or where every host clones it from",
			);
	return all;
};

export const readSettings: ValueReader<Settings> = group<Settings>({
	store: readStore,
	host: group<Settings["host"]>({ name: labelOrNone, labels: (value, field) => check.labels(value, field) }),
	port: orNone(whole(0, 65_535)),
	env: patterns,
	secrets: patterns,
	max_log_bytes: size,
	logs: group<Settings["logs"]>({ shared_kb: whole(0, 10_000) }),
	log_retention_ms: length,
	stop: group<Settings["stop"]>({ grace_int_ms: length, grace_term_ms: length }),
	timeout_ms: orNone(length),
	stall_timeout_ms: orNone(length),
	agent_stall_timeout_ms: orNone(length),
	agent_patience_ms: orNone(length),
	down_grace_ms: length,
	agents: map<AgentSettings>({}, agentReaders),
	accounts: map<AccountSettings>(ACCOUNT, { home: folder, env: variables }),
	repos,
	worktree_retention_ms: orNone(length),
	probes: map<ProbeSettings>({ command: [] }, { command: someArgv }),
	keep_awake: (value, field) =>
		typeof value === "boolean" ? (value ? "while_running" : "never") : check.oneOf(value, ["never", "while_running"], field),
	hooks: group<Settings["hooks"]>({ after_dispatch: argv }),
	display: group<Settings["display"]>({ list: jobFields, show: jobFields }),
	sources,
	notify,
	cron: triggers<CronSettings>(
		{ schedule: "", timezone: null, catch_up: "skip", add: {} },
		{ schedule, timezone: zone, catch_up: (value, field) => check.oneOf(value, CATCH_UPS, field), add: jobInput },
		["schedule", "add"],
	),
	watches: triggers<WatchSettings>({ paths: [], debounce_ms: 500, add: {} }, { paths, debounce_ms: length, add: jobInput }, [
		"paths",
		"add",
	]),
});
