// Ranges of a forecast in words: the hour for what is near, the date too for what is not.

import type { RangeDocument } from "../api/forecast-document.ts";
import { clockTime, localTime } from "./times.ts";

const DAY = 86_400_000;

/** `14:02 – 14:05`: half of all plays were done by the first, nine of ten by the second. */
export function rangeWords(one: RangeDocument | null, now: number): string {
	if (!one) return "?";
	const [half, ninety] = [moment(one.p50, now), moment(one.p90, now)];
	return half === ninety ? half : `${half} – ${ninety}`;
}

function moment(text: string, now: number): string {
	const at = Date.parse(text);
	return Math.abs(at - now) < DAY / 2 ? clockTime(at) : localTime(at);
}
