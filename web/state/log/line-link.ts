// Lines in the address: `#L120`, `#L120-L140`, and which text they count if it is not both streams as people read them: `#stderr-L5`, `#raw-L5`. Pure.

import type { LogStream } from "../../../src/core/text/log-piece.ts";

export type LineLink = { from: number; to: number; stream: LogStream; as: "shown" | "raw" };

const FORM = /^#(?:(stdout|stderr)-)?(?:(raw)-)?L([1-9]\d{0,11})(?:-L?([1-9]\d{0,11}))?$/;

export function lineLinkOf(hash: string): LineLink | null {
	const [, stream = "both", raw, first, second] = FORM.exec(hash) ?? [];
	if (first === undefined) return null;
	const [a, b] = [Number(first), Number(second ?? first)];
	return { from: Math.min(a, b), to: Math.max(a, b), stream: stream as LogStream, as: raw === undefined ? "shown" : "raw" };
}

export const hashOf = ({ from, to, stream, as }: LineLink): string =>
	`#${stream === "both" ? "" : `${stream}-`}${as === "raw" ? "raw-" : ""}L${from}${to === from ? "" : `-L${to}`}`;
