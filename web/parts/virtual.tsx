// A long list of rows of equal height, of which only the visible ones are in the page.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { shown } from "../state/board.ts";
import { useSize } from "./hooks.ts";

type VirtualProps<T> = {
	items: readonly T[];
	each: number;
	keyOf: (item: T) => string | number;
	draw: (item: T, index: number) => ComponentChildren;
	label: string;
};

export function Virtual<T>({ items, each, keyOf, draw, label }: VirtualProps<T>) {
	const { ref, height } = useSize<HTMLUListElement>();
	const [top, setTop] = useState(0);
	const { from, to } = shown(items.length, top, height, each);
	useEffect(() => {
		// A list that became shorter may have been scrolled beyond its new end.
		const element = ref.current;
		if (element && element.scrollTop !== top) setTop(element.scrollTop);
	}, [items.length]);
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with keys
		<ul class="virtual" ref={ref} aria-label={label} tabIndex={0} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
			<li class="stretch" aria-hidden="true" style={{ height: `${items.length * each}px` }} />
			{items.slice(from, to).map((item, index) => (
				<li key={keyOf(item)} class="row" style={{ transform: `translateY(${(from + index) * each}px)`, height: `${each}px` }}>
					{draw(item, from + index)}
				</li>
			))}
		</ul>
	);
}
