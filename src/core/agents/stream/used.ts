// Arithmetic with usage: sums, differences, the larger of two reports.

import type { Used } from "./happening.ts";

/** Combines each part of two reports, except the cost. */
const each = (one: Used, other: Used, combine: (a: number, b: number) => number, cost_micro: number | null): Used => ({
	tokens: combine(one.tokens, other.tokens),
	input_tokens: combine(one.input_tokens, other.input_tokens),
	output_tokens: combine(one.output_tokens, other.output_tokens),
	cached_tokens: combine(one.cached_tokens, other.cached_tokens),
	cache_write_tokens: combine(one.cache_write_tokens, other.cache_write_tokens),
	cost_micro,
});

export const plus = (one: Used, other: Used): Used => {
	const isPriced = one.cost_micro !== null || other.cost_micro !== null;
	return each(one, other, (a, b) => a + b, isPriced ? (one.cost_micro ?? 0) + (other.cost_micro ?? 0) : null);
};

const minus = (one: Used, other: Used): Used => {
	const cost = one.cost_micro === null ? null : Math.max(0, one.cost_micro - (other.cost_micro ?? 0));
	return each(one, other, (a, b) => Math.max(0, a - b), cost);
};

/** How far a session's counter rose above the mark; the whole counter if it was reset. */
export const risen = (count: Used, mark: Used): Used => (count.tokens < mark.tokens ? count : minus(count, mark));

/**
 * The larger value of each part: early reports about a call come before it is over. `tokens` is not the sum of the parts: some programs include cached tokens
 * in the input.
 */
export const largest = (one: Used, other: Used): Used => each(one, other, Math.max, one.cost_micro ?? other.cost_micro);
