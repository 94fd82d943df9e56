// The dashboard's entry point. The home and the board are in the first file; other views are loaded when they are opened.

import { render } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { app } from "./app.ts";
import { useNews } from "./parts/hooks.ts";
import { listenToKeys } from "./parts/keys.ts";
import { lazy } from "./parts/lazy.tsx";
import { listenToNewTabs } from "./parts/new-tabs.ts";
import { Overlays, preload } from "./parts/overlays.tsx";
import { Banner, Shell } from "./parts/shell.tsx";
import { Talk } from "./parts/talk.tsx";
import { listenToTitle } from "./parts/title.ts";
import { Board } from "./views/board.tsx";
import { NowView } from "./views/now/now.tsx";
import { SignedOut, SignIn } from "./views/sign-in.tsx";

const PAGES = {
	now: NowView,
	board: Board,
	graph: lazy(async () => (await import("./views/graph.tsx")).GraphView),
	timeline: lazy(async () => (await import("./views/timeline.tsx")).Timeline),
	limits: lazy(async () => (await import("./views/limits.tsx")).Limits),
	batches: lazy(async () => (await import("./views/batches.tsx")).Batches),
	trends: lazy(async () => (await import("./views/trends.tsx")).TrendsView),
	kernel: lazy(async () => (await import("./views/kernel.tsx")).KernelView),
	audit: lazy(async () => (await import("./views/calls.tsx")).Calls),
};
const JobView = lazy<{ id: number }>(async () => (await import("./views/job/job.tsx")).JobView);

/** Where each view was scrolled to; the way back from a job leads there. */
const LEFT = new Map<string, number>();

function Page() {
	useNews("place", "link");
	const main = useRef<HTMLElement>(null);
	const { view, job, wall } = app.place;
	const place = job === null ? view : `job ${job}`;
	useLayoutEffect(() => {
		if (main.current) main.current.scrollTop = LEFT.get(place) ?? 0;
	}, [place]);
	// When its sign-in ends, the page keeps what was loaded, including half-written answers.
	if (!app.signedIn && app.status === null) return <SignIn ended={app.door === null ? null : app.link.problem} />;
	const View = PAGES[view];
	return (
		<>
			{wall ? null : <Shell />}
			{app.signedIn ? <Banner /> : <SignedOut />}
			<main
				id="main"
				ref={main}
				class={`in-${job === null ? view : "job"}`}
				tabIndex={-1}
				onScroll={(event) => {
					if (event.target === main.current) LEFT.set(place, main.current?.scrollTop ?? 0);
				}}
			>
				{job === null ? <View /> : <JobView key={job} id={job} />}
			</main>
			<Overlays />
			<Talk />
		</>
	);
}

app.start();
listenToKeys();
listenToNewTabs();
listenToTitle();
preload();
const root = document.getElementById("app");
if (root) {
	root.textContent = "";
	render(<Page />, root);
}
