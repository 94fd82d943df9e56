// The settings in force: reads config.yml and what stands above it, follows the file while the daemon runs, and changes it on request.
//
//   the file changes, is good   → taken at once, told to `onChange`
//   the file changes, is bad    → the last good one stays, `problem()` says why; taken as soon as it is mended
//   set, unset                  → checked as a whole first, then written, then taken; a refused change leaves the file alone

import { type FSWatcher, readFileSync, realpathSync, statSync, watch } from "node:fs";
import type { Config } from "../core/config.ts";
import { SluiceError } from "../core/errors.ts";
import { nearest } from "../core/nearest.ts";
import { systemTimezone } from "../host/local.ts";
import type { Host } from "../host.ts";
import type { Log } from "../log.ts";
import {
	checkStep,
	type Effective,
	effective,
	environmentLayers,
	type Given,
	KEYS,
	type Layer,
	type Origin,
	origins,
	stepsOf,
} from "./config-layers.ts";
import { mistakesIn } from "./config-mistakes.ts";
import { type ConfigText, flawsIn, parseValue, readConfigText } from "./config-text.ts";
import type { Settings } from "./settings.ts";
import { writeWhole } from "./write-file.ts";

export type Problem = { code: string; message: string; field: string | null; hint: string | null };
export type ConfigFile = {
	readonly path: string;
	/** In force now. */
	engine(): Config;
	settings(): Settings;
	/** Why the file as it stands is not in force; null when it is. */
	problem(): Problem | null;
	get(key: string): Origin[];
	list(): Origin[];
	/** Text is read as YAML: `8`, `null`, `5m`, `[a, b]`. Resolves once it is in force. */
	set(key: string, value: unknown, by?: string): Promise<Origin[]>;
	unset(key: string, by?: string): Promise<Origin[]>;
	/** Looks at a text, or at the file as it stands, without taking it. */
	check(text?: string): Problem[];
	/** Reads the file again if it changed. */
	reload(): Promise<void>;
	/** Called with each new state, before the old one goes; a rejection leaves the old one. */
	onChange(call: (next: Effective, before: Effective) => Promise<void>): void;
	/** Follows the file until `close`. */
	follow(): void;
	close(): void;
};

export type ConfigSources = {
	path: string;
	env?: Record<string, string | undefined>;
	/** From the command line, by option: what each says. */
	flags?: Record<string, Given>;
	/** What earlier command lines said and still counts, where nobody says otherwise. */
	remembered?: Record<string, Given>;
	host: Pick<Host, "after">;
	log: Log;
};

/** The net behind the watch, for what it misses: another kind of editor, a file that comes back. */
const LOOK_MS = 2000;
/** Editors write in several steps: a text counts when it is the same at two looks. One that has become empty may be about to be written: it is given longer. */
const CALM_MS = 30;
const EMPTY_MS = 1000;

/** `timezone: local` is the zone of this machine, by its name: what the engine is told must mean the same on every host. */
const withZone = (layer: Layer): Layer =>
	layer.given.timezone === "local" ? { ...layer, given: { ...layer.given, timezone: systemTimezone() } } : layer;

type State = { text: string | null; layers: Layer[]; now: Effective };

function layersOf({ env, flags, remembered }: Pick<ConfigSources, "env" | "flags" | "remembered">, file: ConfigText): Layer[] {
	const named = (all: Record<string, Given> = {}) => Object.entries(all).map(([flag, given]) => ({ place: () => flag, given }));
	const own = { place: (field: string) => `config.yml${file.position(field)}`, given: file.given };
	return [...named(remembered), own, ...environmentLayers(env ?? {}, parseValue), ...named(flags)];
}

/** Everything that is wrong with a text, or with the file as it stands. */
export function problemsIn(sources: Pick<ConfigSources, "path" | "env" | "flags" | "remembered">, text?: string): Problem[] {
	try {
		const given = text ?? readText(sources.path) ?? "";
		const flaws = flawsIn(given);
		return (flaws.length > 0 ? flaws : mistakesIn(layersOf(sources, readConfigText(given)).map(withZone))).map(problemOf);
	} catch (error) {
		return [problemOf(error)];
	}
}

/** Throws when the file, a variable or a flag is wrong: there is no last good one yet. */
export function openConfigFile(sources: ConfigSources): ConfigFile {
	const { path, host, log } = sources;
	const stateOf = (text: string | null): State => {
		const layers = layersOf(sources, readConfigText(text ?? ""));
		return { text, layers, now: effective(layers.map(withZone)) };
	};

	let state = stateOf(readText(path));
	let problem: Problem | null = null;
	/** What was last looked at: a bad text is complained about once. */
	let seen = state.text;
	let listener: (next: Effective, before: Effective) => Promise<void> = async () => {};
	let queue: Promise<unknown> = Promise.resolve();
	/** One change after the other. */
	const inTurn = <T>(call: () => Promise<T>): Promise<T> => {
		const result = queue.then(call);
		queue = result.catch(() => {});
		return result;
	};

	async function take(next: State): Promise<void> {
		if (JSON.stringify(next.now) !== JSON.stringify(state.now)) await listener(next.now, state.now);
		state = next;
		seen = next.text;
		problem = null;
	}

	const reload = () =>
		inTurn(async () => {
			try {
				const text = readText(path);
				if (text === seen && !(problem && text === state.text)) return;
				seen = text;
				await take(stateOf(text));
				log.info("config.yml is in force");
			} catch (error) {
				problem = problemOf(error);
				log.error(
					`config.yml is not taken, the last good one stays: ${problem.message}`,
					problem.hint === null ? {} : { hint: problem.hint },
				);
			}
		});

	const change = (key: string, value: unknown, by = "library") =>
		inTurn(async () => {
			const top = stepsOf(key)[0] as string;
			if (!KEYS.includes(top)) {
				const guess = nearest(top, KEYS);
				throw new SluiceError("unknown_key", `${key}: there is no such key`, { field: key, hint: guess && `did you mean "${guess}"?` });
			}
			checkStep(key, value);
			const before = readText(path);
			const text = readConfigText(before ?? "").with(key, value);
			const next = refusingKey(before, () => stateOf(text));
			writeWhole(realPath(path), text);
			await take(next);
			log.info(value === undefined ? "a setting was taken out" : "a setting was changed", { key, by });
			return found(key);
		});

	/** What is wrong with a text that nobody has written has no line: the key is named. A file that was wrong before is told of as it stands. */
	function refusingKey(before: string | null, read: () => State): State {
		try {
			return read();
		} catch (error) {
			if (!(error instanceof SluiceError) || !(error.cause instanceof SluiceError) || !error.message.startsWith("config.yml")) throw error;
			try {
				stateOf(before);
			} catch (earlier) {
				if (earlier instanceof SluiceError && earlier.field === error.field && earlier.message.endsWith(error.cause.message)) throw earlier;
			}
			throw error.cause;
		}
	}

	function found(key: string): Origin[] {
		const all = origins(state.now, state.layers);
		return all.filter((one) => one.key === key || one.key.startsWith(`${key}.`) || one.key === `${key}_ms` || one.key === `${key}_bytes`);
	}

	// ---- following the file -----------------------------------------------------------------------------------------------------
	// The file itself is watched, not its folder: that one changes with every commit of the database beside it.
	let watcher: FSWatcher | undefined;
	let stopLooking = () => {};
	let calm: (() => void) | undefined;
	let closed = false;
	const stirred = () => {
		calm ??= settle(undefined, 0);
	};
	function settle(before: string | null | undefined, waited: number): () => void {
		return host.after(CALM_MS, () => {
			if (closed) return;
			const text = glance(path);
			const emptied = !text?.trim() && state.text?.trim() && waited < EMPTY_MS;
			if (text !== before || emptied) {
				calm = settle(text, waited + CALM_MS);
				return;
			}
			calm = undefined;
			void reload().then(rewatch);
		});
	}
	let watched = "";
	function rewatch(): void {
		const mark = markOf(path);
		if (closed || (watcher && mark.inode === watched)) return;
		watcher?.close();
		watcher = undefined;
		watched = mark.inode;
		if (mark.inode === "") return;
		try {
			watcher = watch(path, { persistent: false }, stirred);
			watcher.on("error", () => {
				watcher?.close();
				watcher = undefined;
			});
		} catch {
			// No watches left: the net below is enough.
		}
	}
	function look(last: string): void {
		stopLooking = host.after(LOOK_MS, () => {
			const { change } = markOf(path);
			if (change !== last) stirred();
			look(change);
		});
	}

	return {
		path,
		engine: () => state.now.config,
		settings: () => state.now.settings,
		problem: () => problem,
		get(key) {
			const all = found(key);
			if (all.length > 0) return all;
			const guess = nearest(key, [...KEYS, ...origins(state.now, state.layers).map((one) => one.key)]);
			throw new SluiceError("not_found", `${key}: there is no such setting`, { field: "key", hint: guess && `did you mean "${guess}"?` });
		},
		list: () => origins(state.now, state.layers),
		set: (key, value, by) => change(key, typeof value === "string" ? parseValue(value) : value, by),
		unset: (key, by) => change(key, undefined, by),
		check: (text) => problemsIn(sources, text),
		reload,
		onChange(call) {
			listener = call;
		},
		follow() {
			rewatch();
			look(markOf(path).change);
			// It may have been changed since it was read: only from now on would that be noticed.
			void reload();
		},
		close() {
			closed = true;
			watcher?.close();
			stopLooking();
			calm?.();
		},
	};
}

function readText(path: string): string | null {
	try {
		return readFileSync(path, "utf8");
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		if (code === "ENOENT") return null;
		throw new SluiceError("invalid", `config.yml cannot be read: ${message}`, {
			field: "config",
			hint: `make ${path} a file that you may read`,
		});
	}
}

/** A link stays one: what it points to is written. */
function realPath(path: string): string {
	try {
		return realpathSync(path);
	} catch {
		return path;
	}
}

/** What cannot be read is told of by whoever takes it. */
function glance(path: string): string | null {
	try {
		return readText(path);
	} catch {
		return null;
	}
}

function markOf(path: string): { inode: string; change: string } {
	const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
	return stat ? { inode: `${stat.dev}:${stat.ino}`, change: `${stat.ino} ${stat.mtimeNs} ${stat.size}` } : { inode: "", change: "" };
}

function problemOf(error: unknown): Problem {
	if (error instanceof SluiceError)
		return { code: error.code, message: error.message, field: error.field ?? null, hint: error.hint ?? null };
	return { code: "store", message: error instanceof Error ? error.message : String(error), field: null, hint: null };
}
