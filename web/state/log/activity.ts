// What an agent does, as a list: what it says, the tools it calls with their results and times, what goes wrong. From the lines of its log. Pure.

import type { Format } from "../../../src/core/agents/profile.ts";
import type { Happening } from "../../../src/core/agents/stream/happening.ts";
import { createReader } from "../../../src/core/agents/stream/reading.ts";
import { plainText } from "./ansi.ts";
import { timeIn } from "./rows.ts";

export type ToolItem = {
	is: "tool";
	name: string;
	text: string;
	how: "runs" | "ok" | "failed" | "denied";
	result: string;
	at: number | null;
	endedAt: number | null;
};
export type ActivityItem = { id: number } & (
	| { is: "said"; text: string; at: number | null }
	| ToolItem
	| { is: "note"; kind: "trouble" | "aside"; text: string; at: number | null }
);

/** Items, and characters of one item, that are kept. */
const MOST_ITEMS = 400;
const MOST_TEXT = 20_000;
const encoder = new TextEncoder();

const cut = (text: string): string => {
	const some = text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}\n… ${text.length - MOST_TEXT} characters more: see the log` : text;
	return some.split("\n").map(plainText).join("\n");
};

/** An item without the number that `add` gives it. */
type NewItem = ActivityItem extends infer I ? (I extends ActivityItem ? Omit<I, "id"> : never) : never;

export class Activity {
	items: readonly ActivityItem[] = [];
	private next = 1;
	private at: number | null = null;
	private isPiece = false;
	/** The numbers of tools that run, by the program's names for their calls. */
	private readonly tools = new Map<string, number>();
	private readonly reader;

	constructor(format: Exclude<Format, "command">) {
		this.reader = createReader(
			format,
			(happening) => this.take(happening),
			(line) => line.trim() !== "" && this.add({ is: "note", kind: "aside", text: cut(line), at: this.at }),
		);
	}

	/** One line of the log, without its newline. */
	line(line: string, stream: "stdout" | "stderr"): void {
		if (stream === "stderr") {
			if (line.trim() !== "") this.add({ is: "note", kind: "trouble", text: cut(line), at: null });
			return;
		}
		this.at = timeIn(line);
		this.reader.push(encoder.encode(`${line}\n`));
	}

	private add(item: NewItem): number {
		const id = this.next++;
		this.items = [...this.items.slice(-(MOST_ITEMS - 1)), { ...item, id } as ActivityItem];
		this.isPiece = false;
		return id;
	}

	private change(id: number, change: Partial<ToolItem>): void {
		this.items = this.items.map((item) => (item.id === id && item.is === "tool" ? { ...item, ...change } : item));
	}

	private say(text: string, isPiece: boolean): void {
		if (text === "") return;
		const last = this.items.at(-1);
		if (this.isPiece && last?.is === "said") this.items = [...this.items.slice(0, -1), { ...last, text: cut(last.text + text) }];
		else this.add({ is: "said", text: cut(text), at: this.at });
		this.isPiece = isPiece;
	}

	private take(one: Happening): void {
		const { at } = this;
		switch (one.is) {
			case "said":
				this.say(one.text, one.piece === true);
				return;
			case "tool":
				if (this.tools.has(one.id)) return;
				this.tools.set(one.id, this.add({ is: "tool", name: one.name, text: cut(one.text), how: "runs", result: "", at, endedAt: null }));
				return;
			case "tool_done": {
				const id = this.tools.get(one.id);
				this.tools.delete(one.id);
				if (id !== undefined) this.change(id, { how: one.how, result: cut(one.text), endedAt: at });
				return;
			}
			case "retry":
			case "notice":
				this.add({ is: "note", kind: "aside", text: cut(one.text), at });
				return;
			case "trouble":
				this.add({ is: "note", kind: "trouble", text: cut(one.text), at });
				return;
			case "limit":
				this.add({ is: "note", kind: "trouble", text: "limit reached", at });
				return;
			case "ended":
				if (one.how === "badly" && one.text !== "") this.add({ is: "note", kind: "trouble", text: cut(one.text), at });
				return;
			default:
				return;
		}
	}
}
