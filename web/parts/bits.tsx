// Small elements that many views show: a status, a lane, a running time.

import type { ComponentChildren } from "preact";
import type { Status } from "../../src/core/job.ts";
import { app } from "../app.ts";
import { addressOf } from "../state/route.ts";
import { elapsed, fromNow, inWords, moment, span } from "../state/words.ts";
import { useNews } from "./hooks.ts";

const WORDS: Record<Status, string> = {
	queued: "queued",
	waiting_on_deps: "waiting",
	waiting_on_locks: "locked",
	running: "running",
	succeeded: "done",
	failed: "failed",
	cancelled: "cancelled",
	blocked_by_dependency: "blocked",
	expired: "expired",
};
export const statusWord = (status: Status): string => WORDS[status];

export function StatusDot({ status }: { status: Status }) {
	return (
		<span class={`dot ${status}`} title={inWords(status)}>
			<span class="unseen">{statusWord(status)}</span>
		</span>
	);
}

export const StatusChip = ({ status }: { status: Status }) => <span class={`chip status ${status}`}>{statusWord(status)}</span>;

/** Counts up by the daemon's clock. `tick` updates all of them together: hundreds of separate listeners would be slow to mount and unmount. */
export const Running = ({ since }: { since: number }) => (
	<span class="num" data-since={since}>
		{elapsed(app.now() - since)}
	</span>
);

app.listen("clock", function tick() {
	for (const element of document.querySelectorAll<HTMLElement>("[data-since]")) {
		const text = elapsed(app.now() - Number(element.dataset.since));
		if (element.firstChild && element.firstChild.nodeValue !== text) element.firstChild.nodeValue = text;
	}
});

/** `in 3 m`, `12 s ago`; the exact time on hover. */
export function Moment({ at, how = "relative" }: { at: number; how?: "relative" | "clock" }) {
	useNews("clock");
	return (
		<time dateTime={new Date(at).toISOString()} title={new Date(at).toISOString()} class="num">
			{how === "clock" ? moment(at, app.now()) : fromNow(at, app.now())}
		</time>
	);
}

export const Span = ({ ms }: { ms: number }) => <span class="num">{span(ms)}</span>;

/** Navigates without loading the page; opening in a new tab works as usual. */
export function JobLink({
	id,
	children,
	...more
}: {
	id: number;
	children: ComponentChildren;
	class?: string;
	tab?: "log";
	card?: boolean;
}) {
	const tab = more.tab ?? "why";
	return (
		<a
			class={more.class}
			data-card={more.card ? id : undefined}
			href={addressOf({ ...app.place, job: id, tab })}
			onClick={(event) => {
				if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
				event.preventDefault();
				app.go({ job: id, tab });
			}}
		>
			{children}
		</a>
	);
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
	return (
		<div class="empty">
			<h2>{title}</h2>
			{children}
		</div>
	);
}

export function Problem({ text, again }: { text: string; again?: () => void }) {
	return (
		<div class="problem" role="alert">
			<strong>This could not be loaded.</strong> {text}{" "}
			{again ? (
				<button type="button" class="small" onClick={again}>
					Try again
				</button>
			) : null}
		</div>
	);
}

export const Loading = ({ what }: { what: string }) => (
	<div class="loading" role="status">
		<span class="spin" aria-hidden="true" />
		Loading {what}…
	</div>
);
