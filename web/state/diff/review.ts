// Comments on lines of a diff, collected and put into words for the agent: `file:line: text`. Pure.

export type ReviewComment = { path: string; side: "old" | "new"; line: number; text: string };

const isSameLine = (a: Omit<ReviewComment, "text">, b: Omit<ReviewComment, "text">): boolean =>
	a.path === b.path && a.side === b.side && a.line === b.line;

/** With this comment in place of the one on the same line; an empty text removes it. */
export function withComment(all: readonly ReviewComment[], comment: ReviewComment): ReviewComment[] {
	const others = all.filter((one) => !isSameLine(one, comment));
	return comment.text.trim() === "" ? others : [...others, comment];
}

/** One line for each comment, by file and line. A line that was removed is named as such. */
export function reviewWords(all: readonly ReviewComment[]): string {
	const sorted = [...all].sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
	return sorted
		.map(({ path, side, line, text }) => `${path}:${line}${side === "old" ? " (removed)" : ""}: ${text.trim().replaceAll("\n", "\n  ")}`)
		.join("\n");
}

/** Comments as they were kept; none if that cannot be read. */
export function readComments(text: string): ReviewComment[] {
	try {
		const found: unknown = JSON.parse(text);
		return Array.isArray(found) ? found.filter(isComment) : [];
	} catch {
		return [];
	}
}

const isComment = (one: Partial<ReviewComment> | null): one is ReviewComment =>
	typeof one === "object" &&
	typeof one?.path === "string" &&
	typeof one.line === "number" &&
	typeof one.text === "string" &&
	(one.side === "old" || one.side === "new");
