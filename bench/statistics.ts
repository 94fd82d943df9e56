// Medians and spread: the only statistics the table needs.

export type Sample = { values: number[]; median: number; min: number; max: number };

export function quantile(values: readonly number[], share: number): number {
	const sorted = [...values].sort((a, b) => a - b);
	const place = (sorted.length - 1) * share;
	const low = sorted[Math.floor(place)] ?? Number.NaN;
	const high = sorted[Math.ceil(place)] ?? Number.NaN;
	return low + (high - low) * (place - Math.floor(place));
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export function sample(values: number[]): Sample {
	return { values, median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** Ratio of the medians; the spread is that of the ratios of neighbouring rounds, which share the machine's mood. */
export function ratio(over: Sample, under: Sample): Sample {
	const pairs = over.values.map((value, i) => value / (under.values[i] ?? Number.NaN));
	return { values: pairs, median: over.median / under.median, min: Math.min(...pairs), max: Math.max(...pairs) };
}

/** Of microseconds a job, jobs a second. */
export function perSecond({ values, median, min, max }: Sample): Sample {
	const flip = (us: number) => 1e6 / us;
	return { values: values.map(flip), median: flip(median), min: flip(max), max: flip(min) };
}
