// daemon.log: one line for each event, with time and level; rotated, and free of secrets.

import { closeSync, existsSync, fstatSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { secretNames } from "../../api/secrets.ts";
import type { Clock } from "../../contracts/host.ts";
import type { Level, Log, LogFields } from "../../contracts/log.ts";

export type LogFile = Log & {
	/** From now on masks these values, too; `secrets` replaces the patterns. */
	mask(more: Pick<LogFileOptions, "secrets" | "masked">): void;
	close(): void;
};
export type LogFileOptions = {
	path: string;
	clock: Clock;
	/** Patterns of field names whose values are masked. */
	secrets?: () => readonly string[];
	/** Values that must never be written anywhere: the tokens of this home. */
	masked?: readonly string[];
	maxBytes?: number;
	/** Number of old logs that are kept: daemon.log.1 is the youngest. */
	keep?: number;
	/** Also prints each line, when a person has started the daemon in a terminal. */
	echo?: (line: string) => void;
};

const MASK = "•••";

export function openLog(options: LogFileOptions): LogFile {
	const { path, clock, maxBytes = 10_000_000, keep = 3 } = options;
	let file: number | undefined;
	let size = 0;
	let secrets = options.secrets ?? (() => []);
	const values = [...(options.masked ?? [])];

	function write(level: Level, message: string, fields: LogFields = {}): void {
		try {
			const line = lineOf(clock.now(), level, masked(message), fields);
			options.echo?.(line.trimEnd());
			const bytes = Buffer.from(line);
			if (file === undefined || size + bytes.length > maxBytes) reopen();
			writeSync(file as number, bytes);
			size += bytes.length;
		} catch {
			// A full disk must not stop the daemon; the line is lost.
			file = undefined;
		}
	}

	function reopen(): void {
		if (file !== undefined) closeSync(file);
		file = undefined;
		const full = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) >= maxBytes * 0.9;
		if (full) for (let age = keep; age > 0; age--) rotate(age === 1 ? path : `${path}.${age - 1}`, `${path}.${age}`);
		file = openSync(path, "a", 0o600);
		size = fstatSync(file).size;
	}

	const masked = (text: string) => values.reduce((result, value) => (value ? result.replaceAll(value, MASK) : result), text);

	/** Fields as `name=value`; values under a secret name are masked, at any depth. */
	function lineOf(at: number, level: Level, message: string, fields: LogFields): string {
		const isSecret = secretNames(secrets());
		const hide = (key: string, value: unknown) => (key !== "" && typeof value !== "object" && isSecret(key) ? MASK : value);
		const shown = Object.entries(fields).flatMap(([key, value]) => {
			if (value === undefined) return [];
			const plain = value instanceof Error ? value.message : hide(key, value);
			const text = typeof plain === "string" && /^[\w./:@+-]+$/.test(plain) ? plain : (JSON.stringify(plain, hide) ?? "");
			return [`${key}=${masked(text)}`];
		});
		return `${[new Date(at).toISOString(), level.padEnd(5), oneLine(message), ...shown].join(" ")}\n`;
	}

	return {
		debug: (message, fields) => write("debug", message, fields),
		info: (message, fields) => write("info", message, fields),
		warn: (message, fields) => write("warn", message, fields),
		error: (message, fields) => write("error", message, fields),
		mask(more) {
			secrets = more.secrets ?? secrets;
			values.push(...(more.masked ?? []));
		},
		close() {
			if (file !== undefined) closeSync(file);
			file = undefined;
		},
	};
}

const oneLine = (text: string) => text.replace(/\r?\n/g, " ⏎ ");

function rotate(from: string, to: string): void {
	if (existsSync(from)) renameSync(from, to);
}
