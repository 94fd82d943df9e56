// The settings in force: reads config.yml and the layers above it, follows the file while the daemon runs, and changes it on request.
//
//   the file changes and is valid     → taken at once and passed to `onChange`
//   the file changes and is invalid   → the last valid one stays, `problem()` says why; taken as soon as it is fixed
//   set, unset                        → the whole file is checked first, then taken, then written; if the check or the scheduler refuses it, the file stays as
//                                       it is; if it cannot be written, the settings before are taken again

import { readFileSync, realpathSync } from "node:fs";
import type { Host } from "../../contracts/host.ts";
import type { Log } from "../../contracts/log.ts";
import { createTurns } from "../../contracts/turns.ts";
import { codeOf, messageOf, nth, orElse, SluiceError } from "../../core/errors.ts";
import { suggest } from "../../core/input/nearest.ts";
import { kindOf } from "../../host/kind.ts";
import { systemTimezone } from "../../host/local.ts";
import { writeWhole } from "../service/write-file.ts";
import { createFileWatch } from "./file-watch.ts";
import {
	type ConfigValues,
	checkStep,
	type Effective,
	effective,
	environmentLayers,
	isUnder,
	KEYS,
	type Layer,
	LayerError,
	type Origin,
	origins,
	spellingIn,
	stepsOf,
} from "./layers.ts";
import { mistakesIn } from "./mistakes.ts";
import { type ConfigText, flawsIn, parseValue, readConfigText } from "./text.ts";

export type ConfigProblem = { code: string; message: string; field: string | null; hint: string | null };
export type ConfigFile = ReturnType<typeof openConfigFile>;

export type ConfigSources = {
	path: string;
	env?: Record<string, string | undefined>;
	/** From the command line: for each option, the settings it gives. */
	flags?: Record<string, ConfigValues>;
	/** Settings of earlier command lines that still count where no other layer gives them. */
	remembered?: Record<string, ConfigValues>;
	host: Pick<Host, "after">;
	log: Log;
};

/** `timezone: local` becomes the name of this machine's zone, because a setting must mean the same on every host. */
const withZone = (layer: Layer): Layer =>
	layer.given.timezone === "local" ? { ...layer, given: { ...layer.given, timezone: systemTimezone() } } : layer;

type State = { text: string | null; layers: Layer[]; now: Effective };

function layersOf({ env, flags, remembered }: Pick<ConfigSources, "env" | "flags" | "remembered">, file: ConfigText): Layer[] {
	const named = (all: Record<string, ConfigValues> = {}) => Object.entries(all).map(([flag, given]) => ({ place: () => flag, given }));
	const own = { place: (field: string) => `config.yml${file.position(field)}`, lineOf: file.lineOf, given: file.given };
	return [...named(remembered), own, ...environmentLayers(env ?? {}, parseValue), ...named(flags)];
}

/** All mistakes in a text, or in the current file. */
export function problemsIn(sources: Pick<ConfigSources, "path" | "env" | "flags" | "remembered">, text?: string): ConfigProblem[] {
	try {
		const given = text ?? readText(sources.path) ?? "";
		const flaws = flawsIn(given);
		return (flaws.length > 0 ? flaws : mistakesIn(layersOf(sources, readConfigText(given)).map(withZone))).map(problemOf);
	} catch (error) {
		return [problemOf(error)];
	}
}

/**
 * Throws when the file, a variable or a flag is invalid: at start there is no earlier valid state to keep. `set` parses text as YAML (`8`, `null`, `5m`,
 * `[a, b]`) and resolves once the change is in force. `check` checks a text, or the current file, without taking it. `onChange`: the call gets each new state
 * before it replaces the old one; if the call rejects, the old state stays. `follow`: until `close`.
 */
export function openConfigFile(sources: ConfigSources) {
	const { path, host, log } = sources;
	const stateOf = (text: string | null): State => {
		const layers = layersOf(sources, readConfigText(text ?? ""));
		return { text, layers, now: effective(layers.map(withZone)) };
	};

	let state = stateOf(readText(path));
	let problem: ConfigProblem | null = null;
	/** The text that was read last, so that an invalid text is reported only once. */
	let seen = state.text;
	let listener: (next: Effective, before: Effective) => Promise<void> = async () => {};
	/** Changes are made one after the other. */
	const { inTurn } = createTurns();

	async function take(next: State): Promise<void> {
		if (JSON.stringify(next.now) !== JSON.stringify(state.now)) await listener(next.now, state.now);
		state = next;
		seen = next.text;
		problem = null;
	}

	/** Reads the file again if it has changed. */
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
				log.error(`config.yml is not taken, the last good one stays: ${problem.message}`, { hint: problem.hint ?? undefined });
			}
		});

	const change = (key: string, value: unknown, by = "library") =>
		inTurn(async () => {
			checkKey(key);
			checkStep(key, value);
			const before = readText(path);
			const text = readConfigText(before ?? "").with(key, value);
			const next = refusingKey(key, { before, text }, stateOf);
			const kept = state;
			await take(next);
			try {
				writeWhole(realPath(path), text);
			} catch (error) {
				await take(kept);
				throw error;
			}
			log.info(value === undefined ? "a setting was taken out" : "a setting was changed", { key, by });
			return originsOf(state, key);
		});

	const watch = createFileWatch({
		path,
		host,
		read: () => glance(path),
		isEmptied: (text) => !text?.trim() && Boolean(state.text?.trim()),
		changed: reload,
	});

	return {
		path,
		/** The engine's settings in force now. */
		engine: () => state.now.config,
		settings: () => state.now.settings,
		/** Why the current file is not in force; null when it is. */
		problem: () => problem,
		get: (key: string) => mustFind(state, key),
		list: () => origins(state.now, state.layers),
		set: (key: string, value: unknown, by?: string) => change(key, typeof value === "string" ? parseValue(value) : value, by),
		unset: (key: string, by?: string) => change(key, undefined, by),
		check: (text?: string) => problemsIn(sources, text),
		reload,
		onChange(call: typeof listener): void {
			listener = call;
		},
		follow(): void {
			watch.start();
			// The file may have changed since it was read at start, and only changes from now on are noticed.
			void reload();
		},
		close: watch.close,
	};
}

const originsOf = ({ now, layers }: State, key: string): Origin[] => origins(now, layers).filter((one) => isUnder(key, one));

function mustFind(state: State, key: string): Origin[] {
	const all = originsOf(state, key);
	if (all.length > 0) return all;
	const hint = suggest(key, [...KEYS, ...origins(state.now, state.layers).map((one) => one.key)], undefined);
	throw new SluiceError("not_found", `${key}: there is no such setting`, { field: "key", hint });
}

function checkKey(key: string): void {
	const top = nth(stepsOf(key), 0);
	if (KEYS.includes(top)) return;
	throw new SluiceError("unknown_key", `${key}: there is no such key`, { field: key, hint: suggest(top, KEYS, undefined) });
}

/**
 * The text that `set` would write is not on disk, so a line number would mislead: the error names the key instead. If the mistake is at another key and was
 * in the file before, it is reported with its line.
 */
function refusingKey(key: string, file: { before: string | null; text: string }, stateOf: (text: string | null) => State): State {
	try {
		return stateOf(file.text);
	} catch (error) {
		if (!(error instanceof LayerError) || error.layer.lineOf === undefined) throw error;
		const { code, field = "", mistake } = error;
		if (spellingIn(field, key) !== undefined) throw mistake;
		try {
			stateOf(file.before);
		} catch (earlier) {
			if (earlier instanceof LayerError && earlier.field === field && earlier.code === code) throw earlier;
		}
		throw mistake;
	}
}

function readText(path: string): string | null {
	try {
		const kind = kindOf(path);
		// Reading a pipe would block for ever.
		if (kind !== null && kind !== "file" && kind !== "link that leads nowhere") throw new Error(`it is a ${kind}`);
		return readFileSync(path, "utf8");
	} catch (error) {
		if (codeOf(error) === "ENOENT") return null;
		throw new SluiceError("invalid", `config.yml cannot be read: ${messageOf(error)}`, {
			field: "config",
			hint: `make ${path} a file that you may read`,
		});
	}
}

/** The target of a symbolic link is written, so that the link stays a link. */
const realPath = (path: string): string => orElse(() => realpathSync(path), path);

/** A file that cannot be read counts as missing here: `reload` reports the error. */
const glance = (path: string): string | null => orElse(() => readText(path), null);

export function problemOf(error: unknown): ConfigProblem {
	if (error instanceof SluiceError)
		return { code: error.code, message: error.message, field: error.field ?? null, hint: error.hint ?? null };
	return { code: "store", message: messageOf(error), field: null, hint: null };
}
