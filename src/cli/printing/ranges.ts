// Ranges of a forecast in words: the time of day if it is near, else also the date.

import type { RangeDocument } from "../../api/documents/forecast.ts";
import { clockTime, localTime } from "../times.ts";
import { counted } from "./print.ts";

const DAY = 86_400_000;

/** `14:02 – 14:05`: half of all simulations were done by the first, nine of ten by the second. */
export function rangeWords(one: RangeDocument | null, now: number): string {
	if (!one) return "?";
	const [half, ninety] = [moment(one.p50, now), moment(one.p90, now)];
	return half === ninety ? half : `${half} – ${ninety}`;
}

/** `14:02 (50 %) – 14:05 (90 %)`: the probability that it is done by then. */
export function oddsWords(one: RangeDocument, now: number): string {
	const [half, ninety] = [moment(one.p50, now), moment(one.p90, now)];
	return half === ninety ? half : `${half} (50 %) – ${ninety} (90 %)`;
}

/** `3 runs in lane code`, `3 runs of recipe work` */
export const basisWords = ({ runs, of }: { runs: number; of: string }): string =>
	`${counted(runs, "run")} ${of.startsWith("recipe") ? "of" : "in"} ${of}`;

function moment(text: string, now: number): string {
	const at = Date.parse(text);
	return Math.abs(at - now) < DAY / 2 ? clockTime(at) : localTime(at);
}
