// What the log view holds: the reader, whether it follows, the place in sight, the search, the chosen lines.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { LogStream } from "../../../src/core/text/log-piece.ts";
import { app } from "../../app.ts";
import { LogReader } from "../../net/log-reader.ts";
import { LogSearch } from "../../net/log-search.ts";
import { after, keep, recall } from "../../outside.ts";
import type { LogShape, RowPlace } from "../../state/log/layout.ts";
import { hashOf, type LineLink, lineLinkOf } from "../../state/log/line-link.ts";
import { addressOf } from "../../state/route.ts";

export type LogChoice = { id: number; stream: LogStream; attempt: number | null; as: "shown" | "raw" };
/** Logs up to this size are counted at once, so that their lines have numbers; larger ones when a person asks for it. */
export const COUNTED_BYTES = 16_000_000;

/** A setting that this browser remembers. */
export function useKept<T extends string>(name: string, otherwise: T): [T, (value: T) => void] {
	const [value, set] = useState<T>((recall(`sluice.${name}`) as T | null) ?? otherwise);
	return [
		value,
		(next) => {
			keep(`sluice.${name}`, next === otherwise ? null : next);
			set(next);
		},
	];
}

/** `jump`: rises when the view has to go to `at`, with `dy` pixels above it. */
export type LogSight = { at: RowPlace | null; dy: number; jump: number };

export function useLog({ id, stream, attempt, as }: LogChoice) {
	const [, draw] = useState(0);
	const redraw = () => draw((n) => n + 1);
	const [follow, setFollow] = useState(lineLinkOf(location.hash) === null);
	const following = useRef(follow);
	following.current = follow;
	const sight = useRef<LogSight>({ at: null, dy: 0, jump: 0 });
	const search = useRef<LogSearch | null>(null);
	const [hit, setHit] = useState<RowPlace | null>(null);
	const [chosen, setChosen] = useState<LineLink | null>(lineLinkOf(location.hash));
	const reader = useMemo(
		() =>
			new LogReader(
				(range, signal) => app.call("job.logs", { id, stream, ...(attempt === null ? {} : { run: attempt }), ...range }, signal),
				() => {
					search.current?.refresh(reader.state.blocks);
					redraw();
				},
				{ stream, as },
			),
		[],
	);
	useEffect(() => readOn(reader, following), [reader]);
	const goTo = (place: RowPlace, lines = 1 / 3) => {
		setFollow(false);
		following.current = false;
		void reader.toBlock(place.block).then(() => {
			sight.current = { at: place, dy: lines, jump: sight.current.jump + 1 };
			redraw();
		});
	};
	const openLink = () => {
		const link = lineLinkOf(location.hash);
		setChosen(link);
		if (link && link.stream === stream && link.as === as)
			void reader
				.find(link.from)
				.then((place) => place && goTo(place))
				.catch(() => {});
	};
	useEffect(() => {
		openLink();
		addEventListener("hashchange", openLink);
		return () => removeEventListener("hashchange", openLink);
	}, [reader]);
	const choose = (line: number, how: "one" | "range") => {
		const begin = how === "range" && chosen ? chosen : { from: line, to: line };
		const link: LineLink = { from: Math.min(begin.from, line), to: how === "range" ? Math.max(begin.from, line) : line, stream, as };
		const isAgain = how === "one" && chosen?.from === line && chosen.to === line;
		setChosen(isAgain ? null : link);
		// The link names the run: after a retry the last run is another one.
		const run = Number(/\.(\d+)$/.exec(reader.state.run ?? "")?.[1] ?? 0) || null;
		history.replaceState(
			null,
			"",
			addressOf({ ...app.place, run: isAgain ? (app.place.run ?? null) : run }) + (isAgain ? "" : hashOf(link)),
		);
	};
	const look = (words: string) => {
		search.current?.stop();
		setHit(null);
		search.current =
			words === ""
				? null
				: new LogSearch(reader, words, () => {
						search.current?.wake();
						redraw();
					});
		redraw();
	};
	const step = async (way: 1 | -1) => {
		const found = await search.current?.next(way, hit ?? sight.current.at ?? { block: 0, row: 0 }, hit ? "beyond" : "here");
		if (!found) return;
		setHit(found);
		goTo(found);
	};
	return { reader, redraw, follow, setFollow, sight, search, hit, look, step, chosen, choose, goTo };
}

/** Loads the end first; while following, then everything new. */
function readOn(reader: LogReader, following: { current: boolean }): () => void {
	let open = true;
	const pause = (ms: number) => new Promise<void>((resolve) => void after(ms, resolve));
	void (async () => {
		if (following.current) await reader.toEnd();
		while (open) {
			const { blocks, atEnd, ended, problem } = reader.state;
			if (problem !== null) {
				await pause(2000);
				if (open) await reader.toEnd();
			} else if (!following.current || (ended && atEnd) || document.hidden) await pause(300);
			else if (reader.isFarBehind || blocks.length === 0) await reader.toEnd().then(() => pause(blocks.length === 0 ? 300 : 0));
			else {
				await reader.behind("wait");
				// The beginning of a line alone shows nothing new yet.
				if (reader.state.blocks === blocks) await pause(300);
			}
		}
	})();
	return () => {
		open = false;
		reader.close();
	};
}

/** Counts lines of logs that are not too long. */
export function useCounting(reader: LogReader, wanted: boolean): boolean {
	const { size, bases, blocks } = reader.state;
	const first = blocks[0]?.index ?? 0;
	const isCounted = first < bases.length;
	useEffect(() => {
		if (!isCounted && (wanted || size <= COUNTED_BYTES)) void reader.count({ block: first }).catch(() => {});
	}, [first, isCounted, wanted, size <= COUNTED_BYTES]);
	return isCounted;
}

export function useFolds(): {
	shape: Pick<LogShape, "toggled" | "tools">;
	toggle: (key: string) => void;
	setTools: (tools: LogShape["tools"]) => void;
} {
	const [tools, setTools] = useKept<LogShape["tools"]>("log-tools", "open");
	const [toggled, set] = useState<ReadonlySet<string>>(new Set());
	return {
		shape: { tools, toggled },
		toggle: (key) => {
			const next = new Set(toggled);
			if (!next.delete(key)) next.add(key);
			set(next);
		},
		setTools: (next) => {
			set(new Set());
			setTools(next);
		},
	};
}
