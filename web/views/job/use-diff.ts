// A job's changes, shared by the parts that show them, and which files a person has seen.

import { useMemo, useState } from "preact/hooks";
import { app } from "../../app.ts";
import { keep, recall } from "../../outside.ts";
import { useQuery } from "../../parts/hooks.ts";
import { type DiffFile, filesOf } from "../../state/diff/patch.ts";

const NONE: DiffFile[] = [];

export function useDiff(id: number, fresh: string) {
	const { value, problem, again } = useQuery(`diff ${id}`, () => app.call("job.diff", { id, beginning: true }), fresh);
	const patch = value?.patch ?? null;
	const files = useMemo(() => (patch === null ? NONE : filesOf(patch)), [patch]);
	const sums = useMemo(
		() => files.reduce((sum, { plus, minus }) => ({ plus: sum.plus + plus, minus: sum.minus + minus }), { plus: 0, minus: 0 }),
		[files],
	);
	return { value, patch: patch ?? "", files, sums, problem, again };
}

/** A number that changes with the file's changes. */
function markOf(patch: string, { from, to, plus, minus }: DiffFile): string {
	let hash = 0;
	for (let at = Math.max(0, from); at < to; at++) hash = (Math.imul(hash, 31) + patch.charCodeAt(at)) | 0;
	return `${plus}.${minus}.${hash}`;
}

/** Marks are kept up to this number of files of a job. */
const MOST_MARKS = 2000;

/** Files that were marked as viewed in this browser; a file that has changed since counts as not viewed. */
export function useViewed(id: number, patch: string) {
	const key = `sluice.viewed.${id}`;
	const [marks, set] = useState<Record<string, string>>(() => readMarks(recall(key)));
	return {
		isViewed: (file: DiffFile) => marks[file.path] !== undefined && marks[file.path] === markOf(patch, file),
		setViewed: (file: DiffFile, isViewed: boolean) => {
			const { [file.path]: _, ...others } = marks;
			const next = isViewed ? { ...others, [file.path]: markOf(patch, file) } : others;
			if (Object.keys(next).length > MOST_MARKS) return;
			keep(key, Object.keys(next).length === 0 ? null : JSON.stringify(next));
			set(next);
		},
	};
}

function readMarks(text: string | null): Record<string, string> {
	try {
		const found: unknown = JSON.parse(text ?? "{}");
		const pairs = typeof found === "object" && found !== null ? Object.entries(found) : [];
		return Object.fromEntries(pairs.filter(([, mark]) => typeof mark === "string"));
	} catch {
		return {};
	}
}
