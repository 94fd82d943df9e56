// A host's own settings: what config.yml may say besides the scheduler's keys (core/schema/config.ts). One row a key, as there.

import { isAbsolute } from "node:path";
import { SECRET_NAMES } from "../../api/secrets.ts";
import { SluiceError } from "../../core/errors.ts";
import * as check from "../../core/input/check.ts";
import { ALLOWED } from "../../core/input/environment.ts";
import type { JobInput } from "../../core/job.ts";
import { fieldHint, JOB_FIELDS } from "../../core/job-fields.ts";
import type { Reader } from "../../core/schema/field.ts";
import { INPUT_KEYS } from "../../core/schema/job.ts";
import { REPO, type RepoSettings } from "../../core/schema/repo.ts";
import { RUN_SETTINGS } from "../../core/schema/run-settings.ts";
import { checkedMap, group, map, type Rows, rowsReader, setting, usualOf, type ValuesOf } from "../../core/schema/setting.ts";
import { argv, labelOrNone, labels, length, lengthOrNone, oneOf, orNone, someArgv, whole, zone } from "../../core/schema/setting-values.ts";
import { SOURCES } from "../../core/schema/source.ts";
import { WEBHOOKS } from "../../core/schema/webhook.ts";
import { isDatabase } from "../../core/text/store-address.ts";
import { CATCH_UPS } from "../../core/time/slots.ts";
import { readSchedule } from "../../host/schedule.ts";
import { ACCOUNT, AGENT } from "./agents.ts";
import { LISTEN } from "./listen.ts";

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

/** The error message does not show the value, which may hold a password. */
const store = orNone((value, field) => {
	if (typeof value !== "string" || value.length > 4096 || /[\0\n]/.test(value) || !(isDatabase(value) || /^(?:\/|~\/)./.test(value)))
		throw check.wrong(
			field,
			"is neither a whole path nor an address of PostgreSQL",
			'"/srv/sluice/fleet.db", or "postgres://user@host/database"',
		);
	return value;
});

/** A number of bytes, or "500MB", "1GiB". */
const size: Reader<number> = (value, field) => {
	if (typeof value === "number") return check.integer(value, field, 0);
	const match = typeof value === "string" ? /^(\d{1,15}(?:\.\d{1,6})?) ?(?:b|([kmgt])(i?)b)?$/i.exec(value) : null;
	if (!match) throw check.wrong(field, `${check.shown(value)} is not a size`, 'for example 1000000, "500MB", "1GiB"');
	const [, number, prefix = "", binary] = match;
	return check.integer(Math.round(Number(number) * (binary ? 1024 : 1000) ** " kmgt".indexOf(prefix.toLowerCase() || " ")), field, 0);
};

/** Names of variables, with `*` for any characters. */
const patterns: Reader<string[]> = (value, field) =>
	check.list(value, field, 1000).map((one, index) => {
		const text = check.text(one, `${field}[${index}]`, { max: 200, lines: "one" });
		if (!/^[A-Za-z_*][A-Za-z0-9_*]*$/.test(text))
			throw check.wrong(`${field}[${index}]`, `${check.shown(text)} is not the name of a variable`, 'for example "HOME" or "LC_*"');
		return text;
	});

const jobFields: Reader<string[]> = (value, field) =>
	check.list(value, field, 100).map((one, index) => {
		const name = check.label(one, `${field}[${index}]`);
		if (!JOB_FIELDS.includes(name)) throw check.wrong(`${field}[${index}]`, `there is no field ${check.shown(name)}`, fieldHint(name));
		return name;
	});

const notices: Reader<NotifySettings[]> = (value, field) =>
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
		if (kind === "command") return { kind, on, command: someArgv(given.command ?? [], `${at}.command`) };
		const url = check.text(given.url, `${at}.url`, { max: 2000, lines: "one" });
		if (!/^https?:\/\/[^\s/]+/.test(url))
			throw check.wrong(`${at}.url`, `${check.shown(url)} is not an address`, 'for example "http://127.0.0.1:8080/hook"');
		return { kind, on, url };
	});

const schedule: Reader<string> = (value, field) => {
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
const jobInput: Reader<JobInput> = (value, field) => {
	const given = check.record(check.json(value, field), field);
	check.knownKeys(given, INPUT_KEYS, field);
	for (const key of ["name", "trigger"])
		if (given[key] !== undefined) throw check.wrong(`${field}.${key}`, "cannot be chosen: each slot has a job of its own", "leave it out");
	if (given.command === undefined && given.agent === undefined && given.payload === undefined && given.recipe === undefined)
		throw check.wrong(field, "nothing to run", "give a command, an agent with a prompt, or a payload");
	return given as JobInput;
};

const paths: Reader<string[]> = (value, field) =>
	check.list(value, field, 100).map((one, index) => {
		const path = check.text(one, `${field}[${index}]`, { max: 4096, lines: "one" });
		if (!isAbsolute(path))
			throw check.wrong(`${field}[${index}]`, `${check.shown(path)} does not begin at the root`, "write the whole path");
		return path;
	});

const awake: Reader<"never" | "while_running"> = (value, field) =>
	typeof value === "boolean" ? (value ? "while_running" : "never") : check.oneOf(value, ["never", "while_running"], field);

const CRON = {
	schedule: setting("", schedule).about(
		"A cron expression: minute, hour, day, month, weekday; six fields begin with seconds. Or `@daily` and the like.",
		"–",
	),
	timezone: setting(null, orNone(zone('"Europe/Berlin"'))).about(
		"IANA name; `null` = the setting `timezone`. When clocks change, a time that does not exist fires an hour later, and a time that exists twice fires once; hourly schedules continue through both.",
	),
	catch_up: setting("skip", oneOf(...CATCH_UPS)).about(
		"What to do with missed slots (the machine slept, the daemon was down): `skip` (a slot that is a minute late still counts), `one` (only the newest), `all` (each, one after the other). Slots from before the trigger existed never fire.",
	),
	add: setting({}, jobInput).about("The job: every field of `add` except `name` and `trigger`.", "–"),
};
export type CronSettings = ValuesOf<typeof CRON>;

const WATCH = {
	paths: setting([], paths).about(
		"Absolute paths of files and folders; a change at or below one of them fires the trigger. They need not exist all the time.",
	),
	debounce_ms: setting(500, length()).about("The job is added after this long without a further change."),
	add: setting({}, jobInput).about("The job, as above.", "–"),
};
export type WatchSettings = ValuesOf<typeof WATCH>;

/** Refuses a trigger that lacks one of these keys. */
const needs =
	(rows: Rows, ...keys: string[]) =>
	(one: object, field: string) => {
		for (const [key, value] of Object.entries(one))
			if (keys.includes(key) && value === rows[key]?.usual)
				throw check.wrong(`${field}.${key}`, "is missing", "docs/reference/config.md says what it takes");
	};

function onePlace({ path, url }: RepoSettings, field: string): void {
	if (path !== null && url !== null)
		throw check.wrong(field, "has a path and a url", "give one of them: a folder of this host, or where every host clones it from");
}

export const HOST = {
	store: setting(null, store).about(
		"Where the queue is: a SQLite file (an absolute path) or `postgres://…` that several hosts share; `null` = `sluice.db` in the home. Takes effect at the next start. A password in it is never shown; you can also put it in `SLUICE_STORE`.",
	),
	host: group({
		name: setting(null, labelOrNone).about(
			"This host's name in a shared store; `null` = the machine's name, or `local` in a home with its own store. Takes effect at the next start.",
		),
		labels: setting([], labels).about("Labels of this host, for jobs that ask for one (`add --host gpu`). Takes effect at the next start."),
		lead: setting("may", oneOf("prefer", "may", "never")).about(
			"Whether this host may lead a fleet on PostgreSQL. `prefer`: it takes over from a leader that only may. Takes effect at the next start.",
		),
	}),
	port: setting(7420, orNone(whole(0, 65_535))).about(
		"HTTP on 127.0.0.1. `0` = any free port, `null` = none. Takes effect at the next start. If the port is taken, the daemon uses the next free one, and `up`, `status`, `doctor` and `open` print it; `up --port N` with a taken port is refused.",
	),
	listen: LISTEN,
	env: setting([...ALLOWED], patterns).about(
		"Variables that `add` captures from the caller, and that runs get from the daemon's own environment; `*` stands for any characters. Captured values are kept in the store, so do not list keys; [pass them by reference](../agents.md#api-keys).",
	),
	secrets: setting([...SECRET_NAMES], patterns).about(
		"Names whose values are masked wherever they are shown: of variables (`env`, `vars`), and, for viewers and for runs of other jobs, of fields in `payload` and `result` (`apiKey` is read as `api_key`). `*` stands for any characters; case does not matter. A list replaces this one.",
	),
	max_log_bytes: setting(1_000_000_000, size).about(
		"Maximum size of each of a run's two logs, which may briefly be exceeded by what the program writes in one second. A size may be written `500MB` or `1GiB`.",
	),
	logs: group({
		shared_kb: setting(256, whole(0, 10_000)).about(
			"If several hosts share a store: how many kB of the end of each log are copied there, besides the first 64, for other hosts to read. `0` = nothing is copied.",
		),
	}),
	...RUN_SETTINGS,
	down_grace_ms: setting(10_000, length()).about("How long `down` waits for runs to end before it leaves them alone or stops them."),
	/** The scheduler has a list of the same name: the agents that jobs may name. */
	agents: map(AGENT),
	accounts: map(ACCOUNT),
	repos: checkedMap(REPO, onePlace),
	worktree_retention_ms: setting(7 * 86_400_000, lengthOrNone).about(
		"Worktrees of ended jobs are kept this long: 7 days; those of merged jobs are removed at once. `null` = until `sluice prune`.",
	),
	probes: map(
		{
			command: setting([], someArgv).about(
				"The artifact is present if this command exits with 0: argv, run in the repo's folder, at most every five seconds.",
			),
		},
		"Commands behind `probe:<name>`.",
	),
	keep_awake: setting("never", awake).about(
		'`"while_running"` (or `true`): the machine does not fall asleep while something runs (systemd-inhibit, caffeinate).',
	),
	hooks: group({
		after_dispatch: setting([], argv).about(
			"A command (argv) that runs after jobs were started, once for each repo. Gets `SLUICE_REPO` and `SLUICE_JOBS`.",
		),
	}),
	display: group({
		list: setting([], jobFields).about(
			"The columns of `list`, by the names of the JSON document and `subject`, `age`, `remark`, if `--fields` is not given. Empty: the usual ones. An unknown name is refused.",
		),
		show: setting([], jobFields).about("The fields that `show` prints, by the same names."),
	}),
	sources: SOURCES,
	notify: setting([], notices).about(
		"Where notifications go: a list of `{kind: desktop}`, `{kind: command, command: [argv]}` and `{kind: webhook, url: http://…}`, each optionally with `on`, a list of events: `batch_done`, `job_failed`, `needs_human`, `limit`, `budget` (these five are the default), `job_succeeded`, and `job_ended`, which is sent for every job that ends, in any way. `batch_done` says how many jobs the batch had and how many failed, expired, were blocked or cancelled (also as `data.counts`); it is sent once the batch has been closed for five seconds, so that a batch filled job by job causes one notification. A command gets the notification as JSON on standard input, and `SLUICE_NOTICE`, `SLUICE_TITLE`, `SLUICE_TEXT`, `SLUICE_JOB`, `SLUICE_BATCH`; a webhook the same JSON as a POST.",
	),
	webhooks: WEBHOOKS,
	cron: checkedMap(CRON, needs(CRON, "schedule", "add"), "Triggers by time."),
	watches: checkedMap(WATCH, needs(WATCH, "paths", "add"), "Triggers by files."),
};

export type Settings = ValuesOf<typeof HOST>;
export const SETTINGS: Settings = usualOf(HOST);
export const readSettings = rowsReader(HOST);
