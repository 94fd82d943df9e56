// How parts of the page follow the state, and request data that only they show.

import { useEffect, useRef, useState } from "preact/hooks";
import { app, type Channel } from "../app.ts";
import { queries } from "../net/queries.ts";

/** Redraws when one of these channels changes, also if one changed between the first draw and this effect, which runs after the paint. */
export function useNews(...channels: Channel[]): void {
	const [, draw] = useState(0);
	const key = channels.join();
	const drawnAt = app.changes;
	useEffect(() => {
		const ends = channels.map((channel) => app.listen(channel, () => draw((n) => n + 1)));
		if (app.changes !== drawnAt) draw((n) => n + 1);
		return () => {
			for (const end of ends) end();
		};
	}, [key]);
}

export type Loaded<T> = { value: T | null; problem: string | null; again: () => void };

/**
 * The daemon's answer, shared by all parts that use this key. Asked now and whenever `fresh` changes; never aborted for fresher news.
 */
export function useQuery<T>(key: string, ask: () => Promise<T>, fresh = ""): Loaded<T> {
	const [, draw] = useState(0);
	const query = queries.of(key, ask);
	useEffect(() => {
		const leave = query.join();
		const end = query.listen(() => draw((n) => n + 1));
		return () => {
			leave();
			end();
		};
	}, [query]);
	useEffect(() => query.want(ask, fresh), [query, fresh]);
	return { value: query.value, problem: query.problem, again: () => query.again() };
}

/** The current size of an element, in CSS pixels. */
export function useSize<E extends HTMLElement>(): { ref: { current: E | null }; width: number; height: number } {
	const ref = useRef<E>(null);
	const [size, set] = useState({ width: 0, height: 0 });
	useEffect(() => {
		const element = ref.current;
		if (!element) return;
		const look = () => set({ width: element.clientWidth, height: element.clientHeight });
		look();
		const observer = new ResizeObserver(look);
		observer.observe(element);
		return () => observer.disconnect();
	}, []);
	return { ref, ...size };
}

/** Whether dark colours are in force. */
export const isDark = (): boolean => app.theme === "dark" || (app.theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);

/** Colours of the style sheet for canvases: the sheet defines pairs, one for light and one for dark. */
export function colours<const K extends string>(...names: K[]): Record<K, string> {
	const style = getComputedStyle(document.documentElement);
	const way = isDark() ? 2 : 1;
	const one = (name: string) => {
		const text = style.getPropertyValue(`--${name}`).trim();
		return /^light-dark\((#\w+), ?(#\w+)\)$/.exec(text)?.[way] ?? text;
	};
	return Object.fromEntries(names.map((name) => [name, one(name)])) as Record<K, string>;
}
