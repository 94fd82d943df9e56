// Prints data to stdout and messages to stderr; colours only on a terminal.

import { writeJson } from "../../core/text/json-text.ts";
import { printable, tame } from "./sequences.ts";
import { pad } from "./table.ts";

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36 } as const;
export type Colour = keyof typeof CODES;
export type Paint = (colour: Colour, text: string) => string;

export const paintWith =
	(colours: "on" | "off"): Paint =>
	(colour, text) =>
		colours === "on" && text !== "" ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;

export type Stream = { write(text: string): unknown; isTTY?: boolean | undefined; columns?: number | undefined; rows?: number | undefined };

export type Printer = {
	/** Prints a line of data. */
	out(line: string): void;
	/** Prints a message; nothing with `--quiet` or `--json`. */
	say(line: string): void;
	/** Prints a warning, also with `--quiet`. */
	warn(line: string): void;
	paint: Paint;
	/** For lines on stderr. */
	paintTalk: Paint;
	/** Columns of the terminal; unlimited if output is not a terminal. */
	width: number;
	/** Whether data goes to a terminal, not to a file or another program. */
	terminal: boolean;
};

export type PrinterOptions = {
	stdout: Stream;
	stderr: Stream;
	quiet: boolean;
	json: boolean;
	noColor: boolean;
	env: Record<string, string | undefined>;
};

export function createPrinter({ stdout, stderr, quiet, json, noColor, env }: PrinterOptions): Printer {
	// https://no-color.org: any value that is not empty.
	const wanted = !noColor && !env.NO_COLOR && env.TERM !== "dumb";
	const coloursOn = (stream: Stream) => (wanted && (stream.isTTY === true || (env.FORCE_COLOR ?? "0") !== "0") ? "on" : "off");
	// A safety net: a value that no command has tamed cannot move the cursor either. Other programs get the text as it is.
	const write = (stream: Stream, line: string) => stream.write(`${stream.isTTY === true ? tame(line, "keep") : line}\n`);
	return {
		out: (line) => write(stdout, line),
		say: (line) => {
			if (!quiet && !json) write(stderr, line);
		},
		warn: (line) => {
			if (!json) write(stderr, line);
		},
		paint: paintWith(coloursOn(stdout)),
		paintTalk: paintWith(coloursOn(stderr)),
		terminal: stdout.isTTY === true,
		width: stdout.isTTY ? (stdout.columns ?? 80) : Number.POSITIVE_INFINITY,
	};
}

const STATUS_COLOURS: Record<string, Colour> = {
	queued: "blue",
	waiting_on_deps: "yellow",
	waiting_on_locks: "yellow",
	running: "cyan",
	succeeded: "green",
	failed: "red",
	cancelled: "dim",
	blocked_by_dependency: "magenta",
	expired: "magenta",
};

export const paintStatus = (paint: Paint, status: string, text = status) => {
	const colour = STATUS_COLOURS[status];
	return colour ? paint(colour, text) : text;
};

/** `name  value` lines with the names aligned. */
export function pairs(rows: readonly (readonly [name: string, value: string])[], paint: Paint): string[] {
	const shown = rows.filter(([, value]) => value !== "");
	const width = Math.max(0, ...shown.map(([name]) => name.length));
	return shown.map(([name, value]) => `${paint("dim", pad(name, width))}  ${value}`);
}

/** A value of a document in one line: lists with commas, objects as JSON. */
export function plain(value: unknown): string {
	if (value === null || value === undefined) return "";
	if (typeof value === "string") return printable(value);
	if (Array.isArray(value)) return value.map(plain).join(", ");
	return typeof value === "object" ? printable(writeJson(value)) : String(value);
}

/** `1 job`, `2 jobs` */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
