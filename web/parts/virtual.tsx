// A long list of rows of equal height, of which only the visible ones are in the page. It remembers where it was scrolled to when a person comes back.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { shown } from "../state/board.ts";
import { useSize } from "./hooks.ts";

type VirtualProps<T> = {
	items: readonly T[];
	each: number;
	keyOf: (item: T) => string | number;
	draw: (item: T, index: number) => ComponentChildren;
	label: string;
	/** Names the list, for its scroll position. */
	place: string;
};

/** Where each list was left, as long as the page lives. */
const LEFT = new Map<string, number>();

export function Virtual<T>({ items, each, keyOf, draw, label, place }: VirtualProps<T>) {
	const { ref, height } = useSize<HTMLUListElement>();
	const [top, setTop] = useState(LEFT.get(place) ?? 0);
	const { from, to } = shown(items.length, top, height, each);
	useLayoutEffect(() => {
		if (ref.current) ref.current.scrollTop = LEFT.get(place) ?? 0;
	}, [place]);
	useEffect(() => {
		// A list that became shorter may have been scrolled beyond its new end.
		const element = ref.current;
		if (element && element.scrollTop !== top) setTop(element.scrollTop);
	}, [items.length]);
	return (
		<ul
			class="virtual"
			ref={ref}
			aria-label={label}
			// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with keys
			tabIndex={0}
			onScroll={({ currentTarget: { scrollTop } }) => {
				LEFT.set(place, scrollTop);
				setTop(scrollTop);
			}}
		>
			<li class="stretch" aria-hidden="true" style={{ height: `${items.length * each}px` }} />
			{items.slice(from, to).map((item, index) => (
				<li key={keyOf(item)} class="row" style={{ transform: `translateY(${(from + index) * each}px)`, height: `${each}px` }}>
					{draw(item, from + index)}
				</li>
			))}
		</ul>
	);
}
