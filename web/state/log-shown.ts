// An agent's log for people: turns whole lines of its JSON into lines as `sluice logs` prints them. Pure.

import { isFormat } from "../../src/core/agents/index.ts";
import type { Format } from "../../src/core/agents/profile.ts";
import { createRenderer, type Renderer } from "../../src/core/agents/stream/render.ts";
import type { LogStream } from "../../src/core/text/log-piece.ts";
import { type LogChunk, linesOf, size } from "./log-pieces.ts";

/** How a log is read: raw, or in an agent's format. */
export type LogFormat = "raw" | Exclude<Format, "command">;

export const readingOf = (output: string | undefined, stream: LogStream, how: "shown" | "raw"): LogFormat =>
	how === "raw" || stream === "stderr" || output === undefined || !isFormat(output) || output === "command" ? "raw" : output;

export type Text = { offset: number; next_offset: number; text: string };

/** Replaces a line of which neither the beginning nor the end is loaded. */
const TOO_LONG = "· a line that is too long to be shown here";

/** Renders consecutive pieces of text; a piece that does not follow the last one starts anew. */
export class Shown {
	private renderer: Renderer;
	private next = -1;
	/** The last piece ended within a line that was skipped: its rest is skipped, too. */
	private within = false;

	constructor(private readonly format: Exclude<Format, "command">) {
		this.renderer = createRenderer(format);
	}

	/** Renders the next text. Takes only complete lines, unless `last` says that no more will come: `to` is where to continue reading. */
	on(part: Text, begins: "at a line" | "anywhere", last: "last" | "more"): LogChunk {
		const from = this.within && part.offset === this.next ? "anywhere" : begins;
		if (begins === "anywhere" || part.offset !== this.next) this.renderer = createRenderer(this.format);
		this.within = from === "anywhere" && !part.text.includes("\n") && last === "more";
		this.next = part.next_offset;
		if (this.within) return { from: part.offset, to: part.next_offset, lines: begins === from ? [TOO_LONG] : [], open: false };
		const whole = wholeLines(part, from, last);
		this.next = whole.to;
		const text = this.renderer.push(whole.text) + (last === "last" ? this.renderer.end() : "");
		return { from: whole.from, to: whole.to, lines: linesOf(text), open: text !== "" && !text.endsWith("\n") };
	}

	/** Renders an earlier piece separately. */
	before(part: Text, begins: "at a line" | "anywhere"): LogChunk {
		const whole = wholeLines(part, begins, "more");
		const renderer = createRenderer(this.format);
		const text = renderer.push(whole.text) + renderer.end();
		if (whole.text === "") return { from: part.offset, to: part.next_offset, lines: [TOO_LONG], open: false };
		return { from: whole.from, to: part.next_offset, lines: linesOf(text), open: false };
	}
}

/** Bytes are counted from the end: a character that is cut in two at the beginning has another number of bytes than its replacement. */
function wholeLines({ offset, next_offset, text }: Text, begins: "at a line" | "anywhere", last: "last" | "more") {
	const first = begins === "anywhere" ? text.indexOf("\n") + 1 || text.length : 0;
	const end = last === "last" ? text.length : Math.max(first, text.lastIndexOf("\n") + 1);
	const at = (index: number) => Math.max(offset, next_offset - size(text.slice(index)));
	return { from: first === 0 ? offset : at(first), to: at(end), text: text.slice(first, end) };
}

export const hasWholeLine = (text: string, begins: "at a line" | "anywhere"): boolean =>
	begins === "at a line" ? text.includes("\n") : text.indexOf("\n") !== text.lastIndexOf("\n");

/** The kind of a line, by its first character, as the renderer writes it. */
export function kindOfLine(line: string): "tool" | "trouble" | "aside" | "" {
	if (line.startsWith("▸ ")) return "tool";
	if (line.startsWith("! ")) return "trouble";
	return line.startsWith("· ") || line.startsWith("… ") || line.startsWith("  ") ? "aside" : "";
}
