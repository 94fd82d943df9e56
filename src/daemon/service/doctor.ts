// The check-up: what could be wrong on this machine, each item with what was found and what to do. Changes nothing.

import { accessSync, constants, statfsSync, statSync } from "node:fs";
import { release } from "node:os";
import { dirname } from "node:path";
import type { AgentDocument, Checkup } from "../../api/context.ts";
import { distrustOf, lookAtSocket, realPath } from "../../api/socket-path.ts";
import { codeOf, messageOf } from "../../core/errors.ts";
import { systemClock } from "../../host/local.ts";
import { find } from "../../host/program-path.ts";
import { newEnough, OLDEST_SQLITE, openDatabase, versionOf } from "../../stores/sqlite/driver.ts";
import { type AgentSettings, createAgents, versionOf as programVersion } from "../agents.ts";
import type { ConfigProblem } from "../config/file.ts";
import { SETTINGS } from "../config/settings.ts";
import { readOnly, storeFinding, whyReadOnly } from "./doctor-store.ts";
import { networkKind } from "./home.ts";
import { misplacedIn, misplacedWords } from "./home-kinds.ts";

export type Patient = {
	home: string;
	/** What is wrong with config.yml, as the daemon knows it or a new read finds it. */
	config: () => ConfigProblem | null;
	/** How agents are started and which variables they receive; the defaults when the settings cannot be read. */
	settings?: () => AgentSettings;
	/** Number of clock jumps that were noticed; absent without a daemon. */
	jumps?: () => number;
	/** The store's URL, if it is a database. */
	database?: () => string | null;
	/** Which of the repos' own files are not in force; absent without a daemon. */
	repos?: () => Checkup[];
	/** What webhooks could not deliver; absent without a daemon. */
	webhooks?: () => Promise<Checkup[]>;
	/** How the daemon is shared on the network; absent without a daemon. */
	sharing?: () => Promise<Checkup[]>;
	/** The daemon's socket, while it runs. */
	socket?: string;
	/** The address of its page, while it runs. */
	http?: { port: number | null; problem: string | null };
	/** The place of the queue, without passwords; absent when it cannot be determined. */
	store?: string;
	/** Whether a daemon has the store open. */
	isOpen?: boolean;
	env: Record<string, string | undefined>;
};

export type CheckResult = { ok: boolean; optional?: true; detail: string; hint?: string };
const LEAST_FREE = 500_000_000;
const OLDEST_NODE = "20.19.0";

export async function checkUp(patient: Patient): Promise<Checkup[]> {
	const { settings = () => SETTINGS, env } = patient;
	const found = (await createAgents(settings, env).list()).filter(({ name }) => name !== "command");
	type Look = [string, () => CheckResult | Promise<CheckResult>];
	const when = <T>(there: T | undefined, look: (one: T) => Look): Look[] => (there === undefined ? [] : [look(there)]);
	const looks: Look[] = [
		["node", () => atLeast("Node", process.versions.node, OLDEST_NODE, "https://nodejs.org/en/download")],
		["sqlite", sqlite],
		["platform", platform],
		["home", () => home(patient.home)],
		["disk", () => free(patient.home)],
		["config", () => configuration(patient.config())],
		...when(patient.store, () => ["store", () => storeFinding(patient)]),
		["socket", () => socket(patient)],
		...when(patient.http, (door) => ["http", () => http(door)]),
		["clock", () => clock(patient.jumps)],
		["launcher", () => programs(patient.env)],
		["git", () => git(patient.env)],
		...found.map((agent): [string, () => CheckResult] => [`agent ${agent.name}`, () => ofAgent(agent)]),
	];
	const url = patient.database?.() ?? null;
	const database = url === null ? [] : await (await import("./database-checks.ts")).checkDatabase(url, systemClock.now);
	const here = await Promise.all(
		looks.map(async ([name, look]) => {
			try {
				return { name, ...(await look()) };
			} catch (error) {
				return { name, ok: false, detail: messageOf(error), hint: (error as { hint?: string }).hint };
			}
		}),
	);
	return [
		...here,
		...(patient.repos?.() ?? []),
		...((await patient.webhooks?.()) ?? []),
		...((await patient.sharing?.()) ?? []),
		...database,
	];
}

const atLeast = (what: string, version: string, oldest: string, hint: string): CheckResult =>
	newEnough(version, oldest)
		? { ok: true, detail: `${what} ${version}` }
		: { ok: false, detail: `${what} ${version}, ${oldest} is needed`, hint };

function sqlite(): CheckResult {
	const database = openDatabase(":memory:");
	try {
		return atLeast("SQLite", versionOf(database), OLDEST_SQLITE, "run npm install, or use a newer Node");
	} finally {
		database.close();
	}
}

function platform(): CheckResult {
	if (process.platform === "linux") return { ok: true, detail: /microsoft/i.test(release()) ? "Linux under WSL2" : "Linux" };
	if (process.platform === "darwin")
		return { ok: true, detail: "macOS: children of a run are found by ancestry, not by their environment (best effort)" };
	return { ok: false, detail: `${process.platform} is not supported`, hint: "on Windows, use WSL2 and run Sluice inside it" };
}

function home(path: string): CheckResult {
	const stat = statAt(path);
	if (!stat) return homeToBe(path);
	if (!stat.isDirectory()) return { ok: false, detail: `${path} is not a folder`, hint: "set SLUICE_HOME to a folder" };
	const network = onNetwork(path, path);
	if (network) return network;
	const distrust = distrustOf(realPath(path));
	if (distrust) return { ok: false, detail: distrust.what, hint: distrust.hint };
	const misplaced = misplacedWords(misplacedIn(path));
	if (misplaced) return { ok: false, detail: misplaced.message, hint: misplaced.hint };
	const why = whyReadOnly(path);
	if (why !== null) return readOnly(path, why);
	return { ok: true, detail: path };
}

/** The home does not exist yet: its nearest existing parent must be a writable folder. */
function homeToBe(path: string): CheckResult {
	const above = nearestAbove(path);
	const bad = (why: string) => ({
		ok: false,
		detail: `${path} cannot be made: ${above} ${why}`,
		hint: "set SLUICE_HOME to a folder of your own",
	});
	if (statAt(above)?.isDirectory() !== true) return bad("is not a folder");
	try {
		accessSync(above, constants.W_OK | constants.X_OK);
	} catch {
		return bad("cannot be written");
	}
	return onNetwork(path, above) ?? { ok: true, detail: `${path} is made when it is needed` };
}

function onNetwork(path: string, place: string): CheckResult | undefined {
	const kind = networkKind(place);
	return kind === null
		? undefined
		: { ok: false, detail: `${path} is on a network file system (${kind})`, hint: "set SLUICE_HOME to a folder on a local disk" };
}

/** Undefined when nothing is there, also below a path that is no folder. */
function statAt(path: string) {
	try {
		return statSync(path, { throwIfNoEntry: false });
	} catch (error) {
		if (codeOf(error) === "ENOTDIR") return undefined;
		throw error;
	}
}

const nearestAbove = (path: string): string => (statAt(path) || dirname(path) === path ? path : nearestAbove(dirname(path)));

/** For `status`: a message, or null while there is enough room. */
export function diskProblem(path: string): string | null {
	const { ok, detail } = free(path);
	return ok
		? null
		: `there is hardly any room where ${path} is (${detail}): once it is full, new jobs are refused, and what programs write fails`;
}

function free(path: string): CheckResult {
	const { bavail, bsize } = statfsSync(nearestAbove(path));
	const bytes = bavail * bsize;
	const detail = `${(bytes / 1e9).toFixed(1)} GB free`;
	return bytes >= LEAST_FREE ? { ok: true, detail } : { ok: false, detail, hint: "make room: a full disk stops new jobs" };
}

const configuration = (problem: ConfigProblem | null): CheckResult =>
	problem === null
		? { ok: true, detail: "config.yml is right" }
		: { ok: false, detail: problem.message, hint: problem.hint ?? "sluice config check" };

function socket({ socket: path }: Patient): CheckResult {
	if (path === undefined) return { ok: true, detail: "no daemon is running" };
	const found = lookAtSocket(path);
	if (found === undefined)
		return { ok: false, detail: `${path} is gone`, hint: "sluice down cannot reach the daemon: end it by its pid, then start it again" };
	if ("what" in found) return { ok: false, detail: found.what, hint: found.hint };
	const open = (statSync(path).mode & 0o077) !== 0;
	return open ? { ok: false, detail: `${path} is open to others`, hint: `chmod 600 ${path}` } : { ok: true, detail: path };
}

/** Another port than the configured one is no fault, but is reported. */
const http = ({ port, problem }: NonNullable<Patient["http"]>): CheckResult =>
	port !== null
		? { ok: true, detail: `http://127.0.0.1:${port}/${problem === null ? "" : ` (${problem})`}` }
		: problem === null
			? { ok: true, detail: "off: port is none" }
			: { ok: false, detail: problem, hint: "sluice config set port 0 takes any free one, then: sluice down && sluice up --detach" };

const clock = (jumps: (() => number) | undefined): CheckResult => {
	const count = jumps?.() ?? 0;
	return {
		ok: true,
		detail: count === 0 ? "no jump seen" : `jumped ${count} times since the daemon started (a sleeping machine counts, too)`,
	};
};

function programs(env: Patient["env"]): CheckResult {
	const missing = ["sh", "mkfifo"].filter((name) => find(name, env) === null);
	if (missing.length > 0) return { ok: false, detail: `missing: ${missing.join(", ")}`, hint: "install what a POSIX system has" };
	const session = find("setsid", env) !== null;
	return { ok: true, detail: session ? "sh, mkfifo, setsid" : "sh, mkfifo; without setsid runs are process groups" };
}

async function git(env: Patient["env"]): Promise<CheckResult> {
	const path = find("git", env);
	if (path === null) return { ok: false, detail: "not installed", hint: "install git: repos and worktrees need it" };
	const found = await programVersion(path, env);
	return "version" in found
		? { ok: true, detail: `${found.version} (${path})` }
		: { ok: false, detail: found.problem, hint: "install it again" };
}

/** An agent that the settings name must be installed, since jobs rely on it; others may be missing. */
function ofAgent(agent: AgentDocument): CheckResult {
	const { name, built_in, path, problem, hint } = agent;
	if (problem?.startsWith("agents.")) return { ok: false, detail: problem, hint: `sluice config set ${problem.split(":")[0]} …` };
	if (path === null) {
		if (built_in) return { ok: true, optional: true, detail: "not installed", ...(hint === null ? {} : { hint }) };
		if (problem === null) return { ok: true, detail: `${agent.program}, in the folder of each job` };
		return { ok: false, detail: problem, hint: `install it, or change agents.${name}.command` };
	}
	if (problem !== null) return { ok: false, detail: problem, hint: "install it again" };
	const { version, tested, newer, logged_in, accounts, keys } = agent;
	const handed = keys.filter((key) => key.handed).map((key) => key.name);
	const kept = keys.filter((key) => key.daemon && !key.handed).map((key) => key.name);
	const words = [
		version === null ? path : `${version} (${path})`,
		...(tested === null ? [] : [newer ? `newer than ${tested}, which Sluice was tested with` : `tested with ${tested}`]),
		...(logged_in === null ? [] : [logged_in ? "logged in" : "runs find no login"]),
		...(handed.length === 0 ? [] : [`runs get ${handed.join(", ")}`]),
		...accounts.map((one) => `account ${one.account}: ${one.logged_in ? "logged in" : "runs find no login"}`),
	];
	const missing = logged_in === false || accounts.some((one) => !one.logged_in);
	const login =
		missing && kept.length > 0
			? { hint: `runs do not get ${kept[0]}: sluice config set agents.${name}.env.${kept[0]} env:${kept[0]}` }
			: missing
				? { hint: "log in with the agent's own program, or hand it a key: docs/agents.md, API keys" }
				: {};
	return { ok: true, ...(built_in ? { optional: true as const } : {}), detail: words.join(", "), ...login };
}
