// Parts of the page that are loaded the first time they are shown.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Loading, Problem } from "./bits.tsx";

/** A part that is loaded the first time it is shown. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
	let Loaded: ComponentType<P> | null = null;
	return function Lazy(props: P) {
		const [problem, setProblem] = useState(false);
		const [, draw] = useState(0);
		useEffect(() => {
			if (Loaded) return;
			load().then(
				(view) => {
					Loaded = view;
					draw((n) => n + 1);
				},
				() => setProblem(true),
			);
		}, []);
		if (Loaded) return <Loaded {...props} />;
		if (problem) return <Problem text="The daemon may be of another build now: load the page anew." again={() => location.reload()} />;
		return <Loading what="this view" />;
	};
}
