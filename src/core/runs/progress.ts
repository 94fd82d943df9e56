// What a live run is doing, in one form for agents and commands; and its texts made safe to show anywhere. Pure.

/** Null: unknown, or not for this kind of run. Texts are on one line, without control characters. */
export type RunProgress = {
	turns: number | null;
	tool_calls: number | null;
	/** The tool that runs now. */
	tool: string | null;
	/** The agent's last message. */
	message: string | null;
	/** Tokens and money of this run so far, as far as the program reports them. */
	tokens: number | null;
	cost_micro: number | null;
	/** Lines that differ from the commit where the job's worktree began, new files included. */
	lines_added: number | null;
	lines_removed: number | null;
	/** The last line of output, of a program whose output is plain text. */
	last_line: string | null;
};

export const NO_PROGRESS: RunProgress = {
	turns: null,
	tool_calls: null,
	tool: null,
	message: null,
	tokens: null,
	cost_micro: null,
	lines_added: null,
	lines_removed: null,
	last_line: null,
};

const TEXT_MAX = 500;
/** More of a text is never looked at: an agent may print lines of many megabytes. */
const LOOKED_AT = 8 * TEXT_MAX;

const ESC = "\\u001b";
/** Sequences for terminals: `ESC [ … letter`, `ESC ] … BEL`, and single ones. */
const SEQUENCES = new RegExp(`${ESC}(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^\\u0007\\u001b]*(?:\\u0007|${ESC}\\\\)?|[ -/]*[0-~]?)`, "g");
/** Characters that turn the writing direction, or have no width: they make a text read as another one. */
const UNSEEN = /[\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to go
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;
const HALF = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Foreign text on one line, at most 500 characters; null if nothing is left. */
export function shownLine(text: string): string | null {
	const whole = text.length > LOOKED_AT;
	const line = text
		.slice(0, LOOKED_AT)
		.replace(SEQUENCES, "")
		.replace(UNSEEN, "")
		.replace(CONTROL, " ")
		.replace(HALF, "\ufffd")
		.replace(/ {2,}/g, " ")
		.trim();
	if (line === "") return null;
	return line.length <= TEXT_MAX && !whole ? line : `${line.slice(0, TEXT_MAX - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** The last line with something to read, of the end of an output. A carriage return begins the line anew, as on a terminal. */
export function lastShownLine(tail: string): string | null {
	const lines = tail.split(/[\r\n]+/);
	for (let at = lines.length - 1; at >= 0; at--) {
		const line = shownLine(lines[at] ?? "");
		if (line !== null) return line;
	}
	return null;
}
