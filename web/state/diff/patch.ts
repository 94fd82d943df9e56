// A patch of git, read in two steps: the list of its files with counts in one pass, the lines of a file when it is shown. Pure.

type FileStatus = "added" | "deleted" | "renamed" | "changed";
export type DiffFile = {
	path: string;
	/** The path before, if it is another one. */
	before: string | null;
	status: FileStatus;
	isBinary: boolean;
	plus: number;
	minus: number;
	/** Where its hunks stand in the patch. */
	from: number;
	to: number;
};
/** `old`, `new`: the number of the line on each side. `hunk`: the head of a hunk; `note`: what git says about the line before. */
export type DiffLine = { kind: "same" | "plus" | "minus" | "hunk" | "note"; text: string; old: number | null; new: number | null };

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/;

/** Calls back for each line: the text from `from` to `to`, without its newline. */
function eachLine(patch: string, begin: number, end: number, see: (from: number, to: number) => void): void {
	for (let from = begin; from < end; ) {
		const newline = patch.indexOf("\n", from);
		const to = newline < 0 || newline > end ? end : newline;
		see(from, to);
		from = to + 1;
	}
}

/** The lines of a hunk are counted, so that a removed line `-- x` is no head of a file. */
class HunkCount {
	private old = 0;
	private new = 0;
	begin(head: string): boolean {
		const found = HUNK.exec(head);
		if (!found) return false;
		this.old = Number(found[2] ?? 1);
		this.new = Number(found[4] ?? 1);
		return true;
	}
	/** Whether the line belongs to the hunk. */
	take(sign: string): boolean {
		if (this.old <= 0 && this.new <= 0) return false;
		if (sign === "\\") return true;
		if (sign !== "+") this.old--;
		if (sign !== "-") this.new--;
		return true;
	}
}

export function filesOf(patch: string): DiffFile[] {
	const files: DiffFile[] = [];
	const hunk = new HunkCount();
	let file: DiffFile | null = null;
	eachLine(patch, 0, patch.length, (from, to) => {
		const sign = patch[from] ?? " ";
		if (file && hunk.take(sign)) {
			if (sign === "+") file.plus++;
			else if (sign === "-") file.minus++;
			return;
		}
		if (sign === "@" && file) {
			if (file.from < 0) file.from = from;
			hunk.begin(patch.slice(from, to));
			return;
		}
		// What is no head is content of a binary patch, which can be long.
		if (to - from > 5000) return;
		const line = patch.slice(from, to);
		if (line.startsWith("diff --git ")) {
			if (file) close(file, from);
			file = { path: pathInHead(line), before: null, status: "changed", isBinary: false, plus: 0, minus: 0, from: -1, to: -1 };
			files.push(file);
		} else if (file && file.from < 0) readHead(file, line);
	});
	if (file) close(file, patch.length);
	return files;
}

function close(file: DiffFile, end: number): void {
	file.to = file.from < 0 ? -1 : end;
}

function readHead(file: DiffFile, line: string): void {
	if (line.startsWith("new file")) file.status = "added";
	else if (line.startsWith("deleted file")) file.status = "deleted";
	else if (line.startsWith("rename from ")) [file.status, file.before] = ["renamed", unquoted(line.slice(12))];
	else if (line.startsWith("rename to ")) file.path = unquoted(line.slice(10));
	else if (line.startsWith("+++ ") && line !== "+++ /dev/null") file.path = withoutSide(line.slice(4));
	else if (line.startsWith("--- ") && line !== "--- /dev/null" && file.status === "deleted") file.path = withoutSide(line.slice(4));
	else if (line.startsWith("GIT binary patch") || line.startsWith("Binary files ")) file.isBinary = true;
}

/** `a/x b/x`: both halves are the same unless the file was renamed, which another line tells. */
function pathInHead(line: string): string {
	const both = line.slice("diff --git ".length);
	if (both.startsWith('"')) return withoutSide(both.slice(0, both.indexOf('" ') + 1) || both);
	return withoutSide(both.slice(0, (both.length - 1) / 2));
}

const withoutSide = (text: string): string => unquoted(text.replace(/\t$/, "")).replace(/^[ab]\//, "");

const SIGNS: Record<string, number> = { n: 10, t: 9, r: 13, a: 7, b: 8, f: 12, v: 11 };

/** git quotes paths with bytes that are no plain letters, as octal numbers. */
function unquoted(text: string): string {
	if (!text.startsWith('"')) return text;
	const bytes: number[] = [];
	const inner = text.slice(1, text.endsWith('"') ? -1 : undefined);
	for (let at = 0; at < inner.length; ) {
		const octal = /^\\([0-3]?[0-7]{1,2})/.exec(inner.slice(at, at + 4));
		if (octal) {
			bytes.push(Number.parseInt(octal[1] as string, 8));
			at += octal[0].length;
		} else if (inner[at] === "\\" && at + 1 < inner.length) {
			const sign = inner[at + 1] as string;
			bytes.push(...new TextEncoder().encode(SIGNS[sign] === undefined ? sign : String.fromCharCode(SIGNS[sign] as number)));
			at += 2;
		} else {
			const letter = String.fromCodePoint(inner.codePointAt(at) as number);
			bytes.push(...new TextEncoder().encode(letter));
			at += letter.length;
		}
	}
	return new TextDecoder().decode(new Uint8Array(bytes));
}

/** At most `most` lines of a file. */
export function linesOf(patch: string, { from, to }: Pick<DiffFile, "from" | "to">, most = Number.POSITIVE_INFINITY): DiffLine[] {
	const lines: DiffLine[] = [];
	if (from < 0) return lines;
	const hunk = new HunkCount();
	let [old, fresh] = [0, 0];
	eachLine(patch, from, to, (begin, end) => {
		if (lines.length >= most) return;
		const sign = patch[begin] ?? " ";
		const line = patch.slice(begin, end);
		if (hunk.take(sign)) {
			const text = line.slice(1);
			if (sign === "+") lines.push({ kind: "plus", text, old: null, new: fresh++ });
			else if (sign === "-") lines.push({ kind: "minus", text, old: old++, new: null });
			else if (sign === "\\") lines.push({ kind: "note", text: text.trim(), old: null, new: null });
			else lines.push({ kind: "same", text, old: old++, new: fresh++ });
		} else if (sign === "\\") lines.push({ kind: "note", text: line.slice(1).trim(), old: null, new: null });
		else if (hunk.begin(line)) {
			const [, first, , second] = HUNK.exec(line) ?? [];
			[old, fresh] = [Number(first), Number(second)];
			lines.push({ kind: "hunk", text: line, old: null, new: null });
		}
	});
	return lines;
}

export type SplitRow = { left: DiffLine | null; right: DiffLine | null };

/** Removed lines stand beside the added ones that follow them. */
export function splitRows(lines: readonly DiffLine[]): SplitRow[] {
	const rows: SplitRow[] = [];
	let [minus, plus]: [DiffLine[], DiffLine[]] = [[], []];
	const flush = () => {
		for (let n = 0; n < Math.max(minus.length, plus.length); n++) rows.push({ left: minus[n] ?? null, right: plus[n] ?? null });
		[minus, plus] = [[], []];
	};
	for (const line of lines) {
		if (line.kind === "minus") {
			if (plus.length > 0) flush();
			minus.push(line);
		} else if (line.kind === "plus") plus.push(line);
		else {
			flush();
			rows.push({ left: line, right: line });
		}
	}
	flush();
	return rows;
}

const HIDDEN = /[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[^\P{Cc}\t]/gu;

/** Signs that a reader would not see, or that turn the direction of the text, by their numbers: source code could hide behind them. */
export function visibleSigns(text: string): string {
	const line = text.endsWith("\r") ? text.slice(0, -1) : text;
	return line.replace(HIDDEN, (sign) => `⟨U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}
