// The dashboard's one program: in a window it is the page, in a worker it lays out graphs.

import { render } from "preact";
import { app } from "./app.ts";
import { type Asked, layOut } from "./draw/layout.ts";
import { useNews } from "./parts/hooks.ts";
import { listenToKeys } from "./parts/keys.ts";
import { Banner, Shell } from "./parts/shell.tsx";
import { Talk } from "./parts/talk.tsx";
import { Batches } from "./views/batches.tsx";
import { Board } from "./views/board.tsx";
import { GraphView } from "./views/graph.tsx";
import { JobView } from "./views/job.tsx";
import { KernelView } from "./views/kernel.tsx";
import { Limits } from "./views/limits.tsx";
import { SignIn } from "./views/sign-in.tsx";
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
};

function Page() {
	useNews("place", "link");
	if (!app.signedIn) return <SignIn wrong={null} />;
	if (app.link.phase === "refused") return <SignIn wrong={app.link.problem ?? "Nobody has this token"} />;
	const { view, job } = app.place;
	const View = PAGES[view];
	return (
		<>
			<Shell />
			<Banner />
			<main id="main" class={`in-${job === null ? view : "job"}`} tabIndex={-1}>
				{job === null ? <View /> : <JobView key={job} id={job} />}
			</main>
			<Talk />
		</>
	);
}

if (typeof document === "undefined")
	self.onmessage = ({ data }: MessageEvent<{ turn: number; asked: Asked }>) =>
		self.postMessage({ turn: data.turn, placed: layOut(data.asked) });
else {
	app.start();
	listenToKeys();
	const root = document.getElementById("app");
	if (root) {
		root.textContent = "";
		render(<Page />, root);
	}
}
