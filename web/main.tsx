// The dashboard's entry point: in a window it is the page, in a worker it lays out graphs.

import { render } from "preact";
import { app } from "./app.ts";
import { type LayoutRequest, layOut } from "./draw/layout.ts";
import { useNews } from "./parts/hooks.ts";
import { listenToKeys } from "./parts/keys.ts";
import { listenToNewTabs } from "./parts/new-tabs.ts";
import { Banner, Shell } from "./parts/shell.tsx";
import { Talk } from "./parts/talk.tsx";
import { Batches } from "./views/batches.tsx";
import { Board } from "./views/board.tsx";
import { Calls } from "./views/calls.tsx";
import { GraphView } from "./views/graph.tsx";
import { JobView } from "./views/job.tsx";
import { KernelView } from "./views/kernel.tsx";
import { Limits } from "./views/limits.tsx";
import { SignedOut, SignIn } from "./views/sign-in.tsx";
import { Timeline } from "./views/timeline.tsx";
import { TrendsView } from "./views/trends.tsx";

const PAGES = {
	board: Board,
	graph: GraphView,
	timeline: Timeline,
	limits: Limits,
	batches: Batches,
	trends: TrendsView,
	kernel: KernelView,
	audit: Calls,
};

function Page() {
	useNews("place", "link");
	// When its sign-in ends, the page keeps what was loaded, including half-written answers.
	if (!app.signedIn && app.status === null) return <SignIn ended={app.door === null ? null : app.link.problem} />;
	const { view, job } = app.place;
	const View = PAGES[view];
	return (
		<>
			<Shell />
			{app.signedIn ? <Banner /> : <SignedOut />}
			<main id="main" class={`in-${job === null ? view : "job"}`} tabIndex={-1}>
				{job === null ? <View /> : <JobView key={job} id={job} />}
			</main>
			<Talk />
		</>
	);
}

if (typeof document === "undefined")
	self.onmessage = ({ data }: MessageEvent<{ turn: number; asked: LayoutRequest }>) =>
		self.postMessage({ turn: data.turn, placed: layOut(data.asked) });
else {
	app.start();
	listenToKeys();
	listenToNewTabs();
	const root = document.getElementById("app");
	if (root) {
		root.textContent = "";
		render(<Page />, root);
	}
}
