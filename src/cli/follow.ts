// Reading a run's output, piece by piece, to its end or as it grows.

import type { Io } from "./io.ts";
import { tame } from "./sequences.ts";

export type Wanted = { id: number | string; stream: "stdout" | "stderr"; attempt: number | undefined; raw: boolean };
type Piece = { text: string; next_offset: number; eof: boolean; ended: boolean; run?: string | null };

/** How long the daemon may hold a question open while there is nothing new. */
const WAIT_MS = 20_000;
/** Bytes of one answer. */
const PIECE = 500_000;

/** Prints what is there; with `follow` goes on until the run has ended. */
export async function printLog(io: Io, wanted: Wanted, how: "once" | "follow"): Promise<void> {
	const { id, stream, attempt, raw } = wanted;
	const colours = io.print.paint("dim", "x") === "x" ? "drop" : "keep";
	let offset = 0;
	for (;;) {
		const params = { id, stream, offset, limit: PIECE, ...(attempt === undefined ? {} : { run: attempt }) };
		const piece = (await io.ask("job.logs", how === "follow" ? { ...params, wait_ms: WAIT_MS } : params)) as unknown as Piece;
		if (piece.text !== "") io.world.stdout.write(raw ? piece.text : tame(piece.text, colours));
		const moved = piece.next_offset > offset;
		offset = piece.next_offset;
		if (piece.eof && (how === "once" || piece.ended)) return;
		if (how === "once" && !moved) return;
	}
}

export const follow = (io: Io, wanted: Wanted): Promise<void> => printLog(io, wanted, "follow");
