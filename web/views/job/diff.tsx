// The review of a job's changes: the list of files, each with its lines, marks for what was seen, comments that go back to the agent, the merge.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JobDocument } from "../../../src/api/documents.ts";
import { mergeWords } from "../../../src/core/job.ts";
import { app } from "../../app.ts";
import { every } from "../../outside.ts";
import { dropMerge, merge } from "../../parts/actions.ts";
import { Loading } from "../../parts/bits.tsx";
import { keepDraft, recallDraft } from "../../parts/drafts.ts";
import { Virtual } from "../../parts/virtual.tsx";
import { type DiffFile, visibleSigns } from "../../state/diff/patch.ts";
import { type ReviewComment, readComments, withComment } from "../../state/diff/review.ts";
import { mergeTrouble } from "../../state/row.ts";
import { bytes, count } from "../../state/words.ts";
import { ReviewBar } from "./diff-bar.tsx";
import { OneFile } from "./diff-file.tsx";
import { useDiff, useViewed } from "./use-diff.ts";
import { useKept } from "./use-log.ts";

/** How often the diff of a running job is made anew while it is in sight. */
const DIFF_MS = 5000;
/** Files in the page at once. */
const FILES = 25;
/** A file with more changed lines is folded at first. */
const LARGE = 400;
const GENERATED = /(?:^|\/)(?:package-lock\.json|[^/]*\.lock|[^/]*\.min\.(?:js|css)|go\.sum|pnpm-lock\.yaml|[^/]*\.snap)$/;

type View = "unified" | "split";

export function Diff({ job, fresh }: { job: JobDocument; fresh: string }) {
	const { id } = job;
	const isLive = job.status === "running";
	const [beat, setBeat] = useState(0);
	useEffect(() => (isLive ? every(DIFF_MS, () => document.hidden || setBeat((n) => n + 1)) : undefined), [isLive]);
	const { value, patch, files, sums, problem, again } = useDiff(id, `${fresh} ${beat}`);
	const [view, setView] = useKept<View>("diff-view", "unified");
	const viewed = useViewed(id, patch);
	const [comments, setComments] = useState<readonly ReviewComment[]>(() => readComments(recallDraft(`review ${id}`)));
	const change = (next: readonly ReviewComment[]) => {
		setComments(next);
		keepDraft(`review ${id}`, next.length === 0 ? "" : JSON.stringify(next));
	};
	if (!value) return problem ? <p class="nothing">{problem}</p> : <Loading what="the diff" />;
	const seen = files.filter(viewed.isViewed).length;
	return (
		<div class="review">
			<div class="tools">
				<span class="num">
					{count(files.length)} {files.length === 1 ? "file" : "files"} <span class="plus">+{count(sums.plus)}</span>{" "}
					<span class="minus">−{count(sums.minus)}</span>
				</span>
				{files.length > 0 ? <span class="dim num">{count(seen)} viewed</span> : null}
				<select
					aria-label="How lines are shown"
					value={view}
					onChange={(event) => setView(event.currentTarget.value === "split" ? "split" : "unified")}
				>
					<option value="unified">unified</option>
					<option value="split">split</option>
				</select>
				<button type="button" class="small" onClick={again}>
					Refresh
				</button>
				<span class="dim">{isLive ? "live" : value.from === "branch" ? "what its branch has; it has not started" : ""}</span>
				<Merge job={job} />
			</div>
			{value.of_bytes === undefined ? null : (
				<p class="cut" role="note">
					Only the beginning is shown: {bytes(new Blob([patch]).size)} of {bytes(value.of_bytes)}. All of it is in the folder that{" "}
					<code>sluice open {id}</code> prints: <code>git diff</code> there, or <code>git show {job.merge_commit ?? "HEAD"}</code>.
				</p>
			)}
			{files.length === 0 ? (
				<p class="nothing">{patch === "" ? "It has changed nothing." : "This patch has no files that could be shown."}</p>
			) : null}
			{files.length > 0 ? <Files {...{ patch, files, view, viewed, comments, change }} id={id} /> : null}
			<ReviewBar job={job} comments={comments} clear={() => change([])} />
		</div>
	);
}

/** What became of the merge, and what can be done about it. */
function Merge({ job }: { job: JobDocument }) {
	const trouble = mergeTrouble(job);
	const words = mergeWords(job);
	return (
		<span class="merge">
			{trouble !== null ? <strong>{trouble}</strong> : words === "" ? null : <span class="chip">{words}</span>}
			{trouble !== null && job.merge_report?.message ? <span class="dim">{job.merge_report.message}</span> : null}
			{app.mayAct && (trouble !== null || job.merge_status === "pending") ? (
				<>
					<button type="button" class="small main" onClick={() => merge(job.id)}>
						Merge now
					</button>
					<button type="button" class="small" onClick={() => dropMerge(job.id)}>
						Give it up…
					</button>
				</>
			) : null}
		</span>
	);
}

type FilesProps = {
	id: number;
	patch: string;
	files: DiffFile[];
	view: View;
	viewed: ReturnType<typeof useViewed>;
	comments: readonly ReviewComment[];
	change: (comments: readonly ReviewComment[]) => void;
};

const isFoldedAtFirst = ({ plus, minus, isBinary, path }: DiffFile): boolean => plus + minus > LARGE || isBinary || GENERATED.test(path);

function Files({ id, patch, files, view, viewed, comments, change }: FilesProps) {
	const [first, setFirst] = useState(0);
	const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map());
	const body = useRef<HTMLDivElement>(null);
	const wanted = useRef<string | null>(null);
	const open = (path: string, is: boolean) => setOpened(new Map(opened).set(path, is));
	const begin = Math.min(first, Math.max(0, files.length - 1));
	const shown = files.slice(begin, begin + FILES);
	useEffect(() => {
		if (wanted.current === null) return;
		for (const element of body.current?.querySelectorAll<HTMLElement>("[data-file]") ?? [])
			if (element.dataset.file === wanted.current) element.scrollIntoView({ block: "start" });
		wanted.current = null;
	});
	const goTo = (index: number) => {
		const file = files[index];
		if (!file) return;
		wanted.current = file.path;
		setFirst(index < begin || index >= begin + FILES ? Math.max(0, index - 2) : begin);
		open(file.path, true);
	};
	const byFile = useMemo(() => {
		const found = new Map<string, ReviewComment[]>();
		for (const one of comments) found.set(one.path, [...(found.get(one.path) ?? []), one]);
		return found;
	}, [comments]);
	const more = files.length - begin - shown.length;
	return (
		<div class="files">
			<nav aria-label="Changed files">
				<Virtual
					items={files}
					each={26}
					keyOf={(file) => file.path}
					label="Changed files"
					place={`diff ${id}`}
					draw={(file, index) => (
						<button type="button" class={`filelink ${viewed.isViewed(file) ? "seen" : ""}`} title={file.path} onClick={() => goTo(index)}>
							<span class="name">{visibleSigns(file.path)}</span>
							{byFile.has(file.path) ? <span class="chip">{byFile.get(file.path)?.length}</span> : null}
							<span class="num plus">+{count(file.plus)}</span>
							<span class="num minus">−{count(file.minus)}</span>
						</button>
					)}
				/>
			</nav>
			<div class="bodies" ref={body}>
				{begin > 0 ? (
					<button type="button" class="small" onClick={() => setFirst(Math.max(0, begin - FILES))}>
						Files before these ({count(begin)})
					</button>
				) : null}
				{shown.map((file) => (
					<OneFile
						key={file.path}
						{...{ patch, file, view }}
						isOpen={opened.get(file.path) ?? !(isFoldedAtFirst(file) || viewed.isViewed(file))}
						setOpen={(is) => open(file.path, is)}
						isViewed={viewed.isViewed(file)}
						setViewed={(is) => {
							viewed.setViewed(file, is);
							open(file.path, !is);
						}}
						comments={byFile.get(file.path) ?? []}
						comment={app.mayAct ? (comment) => change(withComment(comments, comment)) : null}
					/>
				))}
				{more > 0 ? (
					<button type="button" class="small" onClick={() => setFirst(begin + FILES)}>
						Next files ({count(more)})
					</button>
				) : null}
			</div>
		</div>
	);
}
