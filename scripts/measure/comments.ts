// Finds the comments of a source, and which of them have an actor without a name ("whoever", "somebody", "those who").

import type { Source } from "./tree.ts";

export type Comment = { line: number; text: string };

/** A block is one comment, so are lines of `//` that follow each other with nothing else on them. */
export function commentsOf({ text, tree, lineAt }: Source): Comment[] {
	const found: (Comment & { last: number; alone: boolean })[] = [];
	for (const { type, value, start, end } of tree.comments) {
		const line = lineAt(start);
		const alone = type === "Line" && text.slice(text.lastIndexOf("\n", start - 1) + 1, start).trim() === "";
		const before = found.at(-1);
		if (before?.alone && alone && before.last === line - 1) {
			before.text += `\n${value.trim()}`;
			before.last = line;
		} else found.push({ line, last: lineAt(end), alone, text: plain(value) });
	}
	return found.map(({ line, text }) => ({ line, text: text.replaceAll(/\s+/g, " ").trim() }));
}

/** Without the stars at the beginnings of lines. */
const plain = (value: string) => value.replaceAll(/^\s*\*+/gm, "").trim();

/** At the beginning of a comment or of a sentence in it, where no noun can stand before that the word refers to. */
const FIRST = "(?:^|[.!?] )";

/** A word for an actor that does not say which: a reader has to find out whether it is a process, a host, a job, a caller or a human. */
const NAMELESS = new RegExp(
	[
		"\\b(?:who(?:m|so)?ever|somebody|nobody|anybody|everybody|someone|anyone|everyone|no one)\\b",
		"\\b(?:those|one|he) who\\b",
		`${FIRST}(?:the same for )?(?:those of|(?:those|ones?) (?:that|whose|in|with|without))\\b`,
		`${FIRST}(?:the )?others\\b`,
		`${FIRST}the other (?:is|was|has|had|does|may|must|can|cannot|will|would|then|waits|ends|goes|comes|takes|gets|finds)\\b`,
	].join("|"),
	"i",
);

export const TOLD = /\b(?:told|tells|telling)\b/i;
/** A comment that begins in the middle: its first word stands for a noun that is elsewhere. */
export const PRONOUN_FIRST = /^(?:It|Its|One|Ones|Those|That|These|They|Theirs|Them|This)\b/;

export const isNameless = ({ text }: Comment): boolean => NAMELESS.test(text);
/** Words for persons alone. Of river's comments 0.4 % have one, of graphile-worker's 0.2 %, of pueue's 0.1 %. */
export const isPerson = ({ text }: Comment): boolean => /\b(?:whoever|somebody|nobody|anybody|everybody|those who)\b/i.test(text);
