// A heap of indexes, smallest key first.

export class Heap {
	private readonly items: number[] = [];
	constructor(private readonly key: (item: number) => number) {}
	get size() {
		return this.items.length;
	}
	get top(): number | undefined {
		return this.items[0];
	}
	private keyAt(place: number): number {
		return this.key(this.items[place] as number);
	}
	push(item: number): void {
		const { items, key } = this;
		let at = items.push(item) - 1;
		while (at > 0) {
			const above = (at - 1) >> 1;
			if (this.keyAt(above) <= key(item)) break;
			items[at] = items[above] as number;
			at = above;
		}
		items[at] = item;
	}
	pop(): number {
		const { items, key } = this;
		const first = items[0] as number;
		const item = items.pop() as number;
		if (items.length === 0) return first;
		let at = 0;
		for (;;) {
			let below = 2 * at + 1;
			if (below >= items.length) break;
			if (below + 1 < items.length && this.keyAt(below + 1) < this.keyAt(below)) below++;
			if (key(item) <= this.keyAt(below)) break;
			items[at] = items[below] as number;
			at = below;
		}
		items[at] = item;
		return first;
	}
}
