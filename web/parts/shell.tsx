// The frame around every view: navigation, search, pause, and how fresh the data is.

import { useEffect, useRef } from "preact/hooks";
import { app } from "../app.ts";
import { SearchBox } from "../finding/search-box.tsx";
import { monotonic } from "../outside.ts";
import { addressOf, type PageView, VIEWS } from "../state/route.ts";
import { count, elapsed } from "../state/words.ts";
import { askPause, resume } from "./actions.ts";
import { useNews } from "./hooks.ts";
import { openForm, openPalette } from "./overlay.ts";

export const NAMES: Record<PageView, string> = {
	now: "Now",
	board: "Board",
	graph: "Graph",
	timeline: "Timeline",
	limits: "Limits",
	batches: "Batches",
	trends: "Trends",
	kernel: "Kernel",
	audit: "Calls",
};

/** The kernel's view is offered once its queue has an entry, the record of calls to admins of a daemon that is shared. */
export function isShown(view: PageView): boolean {
	const { queued = 0, dispatched = 0 } = app.status?.kernel ?? {};
	if (view === "audit") return app.place.view === "audit" || (app.mayManage && app.me?.shared != null);
	return view !== "kernel" || queued + dispatched > 0 || app.place.view === "kernel";
}

export function Shell() {
	useNews("place", "status");
	const nav = useRef<HTMLElement>(null);
	// On a narrow screen the views are a scrolling row.
	useEffect(() => nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }), [app.place.view]);
	return (
		<header class="top">
			<a class="skip" href="#main">
				Skip to the content
			</a>
			<span class="brand">
				<svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
					<rect x="1" y="2" width="3" height="12" rx="1" class="gate" />
					<rect x="6.5" y="2" width="3" height="7" rx="1" class="leaf" />
					<rect x="12" y="2" width="3" height="12" rx="1" class="gate" />
				</svg>
				Sluice
			</span>
			<nav aria-label="Views" ref={nav}>
				{VIEWS.filter(isShown).map((view, index) => (
					<a
						key={view}
						href={addressOf({ ...app.place, view, job: null })}
						aria-current={app.place.view === view && app.place.job === null ? "page" : undefined}
						title={`${NAMES[view]} (${index + 1})`}
						onClick={(event) => {
							if (event.metaKey || event.ctrlKey || event.shiftKey) return;
							event.preventDefault();
							app.go({ view, job: null });
						}}
					>
						{NAMES[view]}
					</a>
				))}
			</nav>
			<SearchBox />
			<DoButton />
			<AddButton />
			<div class="right">
				<Glance />
				<Freshness />
				<PauseButton />
				<ThemeButton />
				<button type="button" class="icon" title="Keys (?)" aria-label="Show the keys" onClick={() => app.help(true)}>
					?
				</button>
			</div>
		</header>
	);
}

const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

function DoButton() {
	return (
		<button type="button" class="do" aria-keyshortcuts="Control+K Meta+K" title="Find a job, a view or an action" onClick={openPalette}>
			Do… <kbd>{isApple ? "⌘K" : "Ctrl K"}</kbd>
		</button>
	);
}

function AddButton() {
	useNews("link");
	return app.mayAct ? (
		<button type="button" class="add" aria-keyshortcuts="n" title="Add a job (n)" onClick={() => openForm("add")}>
			Add
		</button>
	) : null;
}

function Glance() {
	useNews("status", "place");
	const { status } = app;
	if (!status || (app.place.view === "now" && app.place.job === null)) return null;
	return (
		<span class="glance num" title="running of the cap, queued, ready">
			<b>{count(status.running - (status.lending ?? 0))}</b>
			<span class="dim">/{status.max_concurrent > 0 ? count(status.max_concurrent) : "∞"} run</span> <b>{count(status.queued_total)}</b>{" "}
			<span class="dim">queued</span>
			{status.lending ? (
				<span class="dim" title="runs that wait for jobs and lend their slots">
					{" "}
					· {count(status.lending)} wait for jobs
				</span>
			) : null}
			{status.kernel && status.kernel.queued + status.kernel.dispatched > 0 ? (
				<>
					{" "}
					<b>{count(status.kernel.queued + status.kernel.dispatched)}</b> <span class="dim">kernel</span>
				</>
			) : null}
		</span>
	);
}

/** The person who is signed in, with the role; of a page of the owner's only whether it can act. */
function Myself() {
	const { me } = app;
	if (me?.person)
		return (
			<button
				type="button"
				class="chip look"
				title={`Signed in as ${me.person} (${me.role}). Click to sign out`}
				aria-label={`Signed in as ${me.person} (${me.role}): sign out`}
				onClick={() => void app.signOut()}
			>
				{me.person} ({me.role})
			</button>
		);
	return me && !app.mayAct ? <span class="chip look">read only</span> : null;
}

/** Shows nothing while the page is live; else how old its data is. */
function Freshness() {
	useNews("link", "clock");
	const { phase, heardAt, problem } = app.link;
	const age = monotonic() - heardAt;
	const role = <Myself />;
	if (phase === "live")
		return (
			<>
				{role}
				<span class="fresh live" title="Live: changes appear as they happen" role="status">
					<span class="unseen">live</span>
				</span>
			</>
		);
	if (phase === "polling")
		return (
			<>
				{role}
				<span class="fresh polling" role="status" title={problem ?? ""}>
					every 2 s
				</span>
			</>
		);
	if (phase === "stale")
		return (
			<>
				{role}
				<span class="fresh stale" role="status" title={problem ?? ""}>
					stale {elapsed(age)}
				</span>
			</>
		);
	if (phase === "refused") return <span class="fresh stale">signed out</span>;
	return role;
}

function PauseButton() {
	useNews("status", "link");
	const { status } = app;
	if (!status) return null;
	if (!app.mayAct) return status.paused ? <span class="chip paused">paused</span> : null;
	return status.paused ? (
		<button type="button" class="paused" onClick={() => resume()} title="Resume everything (p)">
			Resume
		</button>
	) : (
		<button type="button" onClick={askPause} title="Start nothing new (p)">
			Pause…
		</button>
	);
}

function ThemeButton() {
	const next = { auto: "light", light: "dark", dark: "auto" } as const;
	const signs = { auto: "◐", light: "○", dark: "●" };
	return (
		<button
			type="button"
			class="icon"
			title={`Colours: ${app.theme} (d)`}
			aria-label={`Colours: ${app.theme}. Change.`}
			onClick={() => app.setTheme(next[app.theme])}
		>
			{signs[app.theme]}
		</button>
	);
}

/** Banners: what keeps all jobs from starting, and what went wrong around them. */
export function Banner() {
	useNews("status", "link", "clock");
	const { status, link } = app;
	if (link.phase === "stale")
		return (
			<p class="banner stale" role="alert">
				The daemon cannot be reached: this is how things stood {elapsed(monotonic() - link.heardAt)} ago. Trying again by itself.
			</p>
		);
	return (
		<>
			{status?.paused ? (
				<p class="banner paused">Paused{status.paused_by ? ` by ${status.paused_by}` : ""}: nothing new starts, what runs goes on.</p>
			) : null}
			{status?.backpressure ? <p class="banner">{status.backpressure}</p> : null}
			{alarms().map((text) => (
				<p key={text} class="banner alarm" role="status">
					{text}
				</p>
			))}
		</>
	);
}

/** What is wrong with a host, the disk, an account, an agent or the configuration, in the daemon's words. */
function alarms(): string[] {
	const { status } = app;
	if (!status) return [];
	const hosts = status.hosts
		.filter(({ gone, state }) => gone === "lost" || state === "stale")
		.map(({ name, gone }) => `Host ${name} ${gone === "lost" ? "is lost: its runs were given to others" : "has not been heard of"}.`);
	const holds = status.holds
		.filter(({ kind }) => kind === "account_closed" || kind === "breaker_open")
		.map(
			({ kind, scope, reason }) =>
				`${scope.replace(":", " ")} ${kind === "breaker_open" ? "keeps failing to start" : "is closed"}: ${reason}`,
		);
	return [
		...(status.config_problem ? [`config.yml is not in force: ${status.config_problem}`] : []),
		...[status.disk_problem, status.http_problem].flatMap((one) => one ?? []),
		...hosts,
		...holds,
		...(status.webhook_problems ?? []).map(
			({ webhook, error, waiting }) =>
				`Webhook ${webhook} fails: ${error}. ${count(waiting)} ${waiting === 1 ? "event waits" : "events wait"} for it.`,
		),
	];
}
