// Arithmetic with usage: sums, differences, the larger of two reports.

import type { Used } from "./happening.ts";

export const plus = (one: Used, other: Used): Used => ({
	tokens: one.tokens + other.tokens,
	input_tokens: one.input_tokens + other.input_tokens,
	output_tokens: one.output_tokens + other.output_tokens,
	cached_tokens: one.cached_tokens + other.cached_tokens,
	cache_write_tokens: one.cache_write_tokens + other.cache_write_tokens,
	cost_micro: one.cost_micro === null && other.cost_micro === null ? null : (one.cost_micro ?? 0) + (other.cost_micro ?? 0),
});

const minus = (one: Used, other: Used): Used => ({
	tokens: one.tokens - other.tokens,
	input_tokens: Math.max(0, one.input_tokens - other.input_tokens),
	output_tokens: Math.max(0, one.output_tokens - other.output_tokens),
	cached_tokens: Math.max(0, one.cached_tokens - other.cached_tokens),
	cache_write_tokens: Math.max(0, one.cache_write_tokens - other.cache_write_tokens),
	cost_micro: one.cost_micro === null ? null : Math.max(0, one.cost_micro - (other.cost_micro ?? 0)),
});

/** How far a session's counter rose above the mark; the whole counter if it was reset. */
export const risen = (count: Used, mark: Used): Used => (count.tokens < mark.tokens ? count : minus(count, mark));

/** The larger value of each part: early reports about a call come before it is over. */
export const largest = (one: Used, other: Used): Used => ({
	// Not the sum of the parts: some programs include cached tokens in the input.
	tokens: Math.max(one.tokens, other.tokens),
	input_tokens: Math.max(one.input_tokens, other.input_tokens),
	output_tokens: Math.max(one.output_tokens, other.output_tokens),
	cached_tokens: Math.max(one.cached_tokens, other.cached_tokens),
	cache_write_tokens: Math.max(one.cache_write_tokens, other.cache_write_tokens),
	cost_micro: one.cost_micro ?? other.cost_micro,
});
