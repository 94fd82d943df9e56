// A host that probes real repositories, files and commands. A key without a repo that needs one, or with a repo unknown to this host, gets an error of its own.
//
//   head:<repo>:<branch>                     the repo's refs; <repo> may also be a folder, for the repository there
//   busy:<repo>                              its git folder
//   artifact:<artifact>[@<repo>]             refs, objects, files (of a repo: on its base, or in the worktree of the job that makes them); `patch:` in the run folders; `probe:` a configured command
//   condition:<condition>[@<repo>]           the repo's checkout; `command:` a program
//
// Results of commands are cached for a while, or until their repo changes, because keys are probed every second.

import type { Git } from "../../contracts/git.ts";
import type { Clock, Facts, Host } from "../../contracts/host.ts";
import type { RunProgram } from "../../contracts/program.ts";
import { type FactRepo, type Found, hasFile, type Lasting, lookAtRepo, type RepoLook, troubled } from "./repo-facts.ts";

export type FactParts = {
	git: Git;
	run: RunProgram;
	clock: Clock;
	/** Repos with a folder on this host, by name. */
	repos: () => Record<string, FactRepo>;
	/** Commands configured as `probes.<name>.command`, for `probe:<name>`. */
	probes: () => Record<string, readonly string[]>;
	env: () => Record<string, string>;
	/** Working directory for commands of jobs without a repo. */
	cwd: string;
	/** Whether a run of the job has left a patch. */
	/** undefined: another host may know. */
	hasPatch: (job: number) => boolean | undefined;
	/** Keys that waiting jobs depend on. The command of any other key is not run again. */
	wanted: () => Promise<ReadonlySet<string>>;
};

const COMMAND_MS = 30_000;
/** A result is cached for this long, or for ten times the command's duration if that is longer. */
const AGAIN_MS = 5_000;

type CommandParts = Pick<FactParts, "run" | "clock" | "env" | "wanted">;

/** Facts that a command finds out by its exit code. */
function createCommandFacts({ run, clock, env, wanted }: CommandParts) {
	const said = new Map<string, { until: number; value: Promise<Found>; repo: string | null }>();
	return {
		async find(key: string, argv: readonly string[], repo: string | null, folder: string): Promise<Found> {
			const last = said.get(key);
			const now = clock.monotonic();
			if (last && (last.until > now || !(await wanted()).has(key))) return last.value;
			const entry = { until: Number.POSITIVE_INFINITY, value: Promise.resolve<Found>(false), repo };
			entry.value = run(argv, { cwd: folder, env: env(), timeoutMs: COMMAND_MS, keep: 2000 }).then((end) => {
				const took = clock.monotonic() - now;
				entry.until = clock.monotonic() + Math.max(AGAIN_MS, 10 * took);
				return end.trouble === null ? end.code === 0 : { error: end.trouble };
			});
			said.set(key, entry);
			return entry.value;
		},
		stir(repo: string): void {
			for (const [key, entry] of said) if (entry.repo === repo) said.delete(key);
		},
	};
}

const noRepo = (text: string): string => {
	const named = /@([^@]+)$/.exec(text)?.[1];
	return named === undefined ? "the job names no repo" : `no folder is known of repo ${named}: set repos.${named}.path`;
};

/** `thing[@repo]`: an artifact may contain an @ of its own, so the part after it counts only if it names a known repo. */
function splitRepo(text: string, known: Record<string, FactRepo>): { thing: string; repo: string | null } {
	const at = text.lastIndexOf("@");
	const repo = text.slice(at + 1);
	return at > 0 && Object.hasOwn(known, repo) ? { thing: text.slice(0, at), repo } : { thing: text, repo: null };
}

/** Reads each repo once for one probe. */
function looksAt(git: Git, known: Record<string, FactRepo>, lasting: Lasting): (name: string) => RepoLook {
	const looks = new Map<string, RepoLook>();
	return (name) => {
		const repo = Object.hasOwn(known, name) ? known[name] : name.startsWith("/") ? { path: name, base_branch: null } : undefined;
		if (!repo) throw new Error(name === "" ? "the job names no repo" : `no folder is known of repo ${name}: set repos.${name}.path`);
		const one = looks.get(name) ?? lookAtRepo(git, repo, lasting);
		looks.set(name, one);
		return one;
	};
}

export function withFacts(host: Host, parts: FactParts) {
	const { git } = parts;
	const commands = createCommandFacts(parts);
	const lasting: Lasting = new Map();
	const files = new Map<string, Set<string>>();
	let known: Record<string, FactRepo> = {};

	const split = (text: string) => splitRepo(text, known);

	async function find(key: string, look: (repo: string) => RepoLook): Promise<Found | undefined> {
		const colon = key.indexOf(":");
		const rest = key.slice(colon + 1);
		switch (key.slice(0, colon)) {
			case "head": {
				// A branch name cannot contain a colon; a folder's can.
				const end = rest.lastIndexOf(":");
				return look(rest.slice(0, end)).head(rest.slice(end + 1));
			}
			case "busy":
				return Object.hasOwn(known, rest) ? look(rest).busy() : undefined;
			case "artifact":
				return artifact(key, rest, look);
			case "condition":
				return condition(key, rest, look);
			default:
				return undefined;
		}
	}

	async function artifact(key: string, text: string, look: (repo: string) => RepoLook): Promise<Found | undefined> {
		const { thing, repo } = split(text);
		const value = thing.slice(thing.indexOf(":") + 1);
		const folder = repo === null ? parts.cwd : (known[repo] as FactRepo).path;
		if (thing.startsWith("patch:")) return parts.hasPatch(Number(value));
		if (thing.startsWith("probe:")) {
			const argv = Object.hasOwn(parts.probes(), value) ? parts.probes()[value] : undefined;
			if (!argv) return { error: `nothing says how to look: set probes.${value}.command` };
			return commands.find(key, argv, repo, folder);
		}
		if (repo !== null) {
			if (thing.startsWith("file:/")) files.set(repo, (files.get(repo) ?? new Set()).add(value));
			return look(repo).artifact(thing);
		}
		if (thing.startsWith("file:/")) return hasFile("/", value);
		return { error: noRepo(text) };
	}

	async function condition(key: string, text: string, look: (repo: string) => RepoLook): Promise<Found> {
		const { thing, repo } = split(text);
		if (thing.startsWith("command:")) {
			const argv = JSON.parse(thing.slice("command:".length)) as string[];
			return commands.find(key, argv, repo, repo === null ? parts.cwd : (known[repo] as FactRepo).path);
		}
		if (repo === null) return { error: noRepo(text) };
		if (thing === "clean_worktree") return look(repo).isClean();
		return (await look(repo).head(thing.slice("branch_exists:".length))) !== null;
	}

	return {
		...host,
		async probe(keys: string[]): Promise<Facts> {
			known = parts.repos();
			const look = looksAt(git, known, lasting);
			const facts: Facts = {};
			await Promise.all(
				keys.map(async (key) => {
					const found = await find(key, look).catch(troubled);
					if (found !== undefined) facts[key] = found;
				}),
			);
			return facts;
		},
		/** A repo has changed: drops the cached results of its commands. */
		stir: commands.stir,
		/** Absolute paths of files that jobs of a repo have asked for since the start. */
		files: (repo: string): string[] => [...(files.get(repo) ?? [])],
	};
}
