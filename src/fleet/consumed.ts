// Which requests of each member the leader has consumed: all numbers up to a floor, and single ones above it. Stored with the effect of the requests, so a
// request that is inserted once more, however late, is recognised.

import type { ConsumedOf, RequestId } from "./database.ts";

export class Consumed {
	private readonly members = new Map<string, { floor: number; above: Set<number> }>();

	constructor(stored: readonly ConsumedOf[]) {
		for (const { member, floor, above } of stored) this.members.set(member, { floor, above: new Set(above) });
	}

	has({ member, n }: RequestId): boolean {
		const one = this.members.get(member);
		return one !== undefined && (n <= one.floor || one.above.has(n));
	}

	/** What the member's row will be once these numbers are consumed as well. Changes nothing. */
	with(member: string, numbers: Iterable<number>): ConsumedOf {
		const known = this.members.get(member);
		const above = new Set([...(known?.above ?? []), ...numbers]);
		let floor = known?.floor ?? 0;
		while (above.delete(floor + 1)) floor++;
		return { member, floor, above: [...above].filter((n) => n > floor) };
	}

	/** The rows are committed. */
	set(rows: readonly ConsumedOf[]): void {
		for (const { member, floor, above } of rows) this.members.set(member, { floor, above: new Set(above) });
	}
}
