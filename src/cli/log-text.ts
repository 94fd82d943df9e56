// A run's output as it is shown: an agent's JSON lines in words, both streams in one text, or exactly as it was written.

import { isFormat } from "../core/agents/index.ts";
import { createRenderer, type Renderer } from "../core/agents/render.ts";
import type { StreamPart } from "../core/log-piece.ts";
import type { OneStream } from "../core/output-order.ts";
import { tame } from "./sequences.ts";

export type LogText = {
	/** What of this is to be shown now: an agent's line is told when it is whole. */
	push(text: string, parts: readonly StreamPart[] | undefined, output: string): string;
	/** What was held back. */
	end(): string;
};

export function createLogText(how: "raw" | "shown", colours: "keep" | "drop", stream: OneStream): LogText {
	let renderer: Renderer | undefined;
	let last: { stream: OneStream; midLine: boolean } | undefined;
	/** The other stream begins a line of its own. */
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
			// A daemon of before does not tell the streams apart: it was asked for one.
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

/** Each line with what it belongs to before it; a line is written when it is whole. */
export function createPrefixed(write: (text: string) => void, prefix: string) {
	let rest = "";
	return {
		write(text: string): void {
			const lines = (rest + text).split("\n");
			rest = lines.pop() as string;
			if (lines.length > 0) write(lines.map((line) => `${prefix}${line}\n`).join(""));
		},
		end(): void {
			if (rest !== "") write(`${prefix}${rest}\n`);
			rest = "";
		},
	};
}
