// A run's output as shown: an agent's JSON lines in words, both streams in one text, or exactly as written.

import { isFormat } from "../../core/agents/index.ts";
import { createRenderer, type Renderer } from "../../core/agents/stream/render.ts";
import type { StreamPart } from "../../core/text/log-piece.ts";
import type { OneStream } from "../../core/text/output-order.ts";
import { tame } from "./sequences.ts";

export type LogText = {
	/** Returns the text that can be shown now: an agent's line is shown once it is complete. */
	push(text: string, parts: readonly StreamPart[] | undefined, output: string): string;
	/** Returns what was held back. */
	end(): string;
};

export function createLogText(how: "raw" | "shown", colours: "keep" | "drop", stream: OneStream): LogText {
	let renderer: Renderer | undefined;
	let last: { stream: OneStream; midLine: boolean } | undefined;
	/** A change of streams begins a new line. */
	const joined = (of: OneStream, text: string): string => {
		if (text === "") return "";
		const gap = last?.midLine && last.stream !== of ? "\n" : "";
		last = { stream: of, midLine: !text.endsWith("\n") };
		return gap + text;
	};
	const shown = (of: OneStream, text: string, output: string): string => {
		if (of !== "stdout" || output === "command" || !isFormat(output)) return joined(of, tame(text, colours));
		renderer ??= createRenderer(output);
		return joined(of, tame(renderer.push(text), colours));
	};
	return {
		push(text, parts, output) {
			if (how === "raw") return text;
			let [at, all] = [0, ""];
			// An older daemon does not separate the streams; it was asked for one.
			for (const { stream: of, length } of parts ?? [{ stream, length: text.length }]) {
				all += shown(of, text.slice(at, at + length), output);
				at += length;
			}
			return all;
		},
		end: () => (renderer ? joined("stdout", tame(renderer.end(), colours)) : ""),
	};
}

/** The last lines of a text. */
export const lastLines = (text: string, count: number): string => {
	const lines = text.split(/(?<=\n)/);
	return count === 0 ? "" : lines.slice(-count).join("");
};

/** Prefixes each line; a line is written once it is complete. */
export function createPrefixed(write: (text: string) => void, prefix: string) {
	let rest = "";
	return {
		write(text: string): void {
			const lines = (rest + text).split("\n");
			rest = lines.pop() ?? "";
			if (lines.length > 0) write(lines.map((line) => `${prefix}${line}\n`).join(""));
		},
		end(): void {
			if (rest !== "") write(`${prefix}${rest}\n`);
			rest = "";
		},
	};
}
