// Whether a store lacks acknowledged work: compares what the mark says was durable with what the store holds now.
//
//   the store holds                              the mark says        answer
//   the same or a higher event number            anything             whole
//   a lower event number, same identity or none  seq > 0              loss
//   nothing at all: no file, empty, no tables    seq > 0              loss
//   a back-up that no daemon has opened yet      anything             whole: `sluice backup` wrote it, and the owner put it there
//   another identity                             anything             whole: the owner put another store there
//   anything                                     no mark, unreadable  whole: a home of an older version, or a power cut took the mark; the daemon logs it, and doctor says it

/** The last numbers that were assigned, and the store's identity, as of the last commit that is known to be on disk. */
export type StoreMark = { id: string | null; seq: number; job: number; token: number };
export type StoreFound = {
	database: "missing" | "empty" | "there";
	/** Bytes of the write-ahead log; null if there is none. */
	walBytes: number | null;
	/** `sluice backup` wrote the file, and no daemon has opened it since. */
	isBackup: boolean;
	/** Null if it has no tables yet. */
	holds: StoreMark | null;
};
export type StoreLoss = { known: StoreMark; found: StoreFound; held: Omit<StoreMark, "id"> };

export function lossOf(known: StoreMark | null, found: StoreFound): StoreLoss | null {
	if (known === null || known.seq === 0 || found.isBackup) return null;
	const held = found.holds ?? { id: null, seq: 0, job: 0, token: 0 };
	if (held.id !== null && known.id !== null && held.id !== known.id) return null;
	return held.seq < known.seq ? { known, found, held } : null;
}

/** What is missing, as exactly as it can be known, and what was found. `at`: when the mark was last written. */
export function lossWords({ known, found, held }: StoreLoss, path: string, at: string): string {
	const before = `at ${at} it held jobs up to ${known.job} and events up to ${known.seq}`;
	const now =
		found.database === "missing"
			? `${path} is not there`
			: found.database === "empty"
				? `${path} is empty`
				: held.seq === 0
					? "it holds none"
					: `it holds jobs up to ${held.job} and events up to ${held.seq}`;
	const wal =
		found.walBytes === null
			? `${path}-wal is not there`
			: found.walBytes === 0
				? `${path}-wal is empty`
				: `${path}-wal is there (${found.walBytes} bytes) but holds nothing newer that can be read`;
	return `acknowledged jobs are missing from the queue ${path}: ${before}; now ${now}, and ${wal}. ${missingWords({ known, held })}`;
}

function missingWords({ known, held }: Pick<StoreLoss, "known" | "held">): string {
	const events = `events ${held.seq + 1} to ${known.seq}`;
	if (known.job <= held.job) return `Missing: ${events}, so jobs are as they were earlier, and what has ended since may run again`;
	const jobs = known.job === held.job + 1 ? `job ${known.job}` : `jobs ${held.job + 1} to ${known.job}`;
	return `Missing: ${jobs} and ${events}${held.seq === 0 ? "" : "; other jobs are as they were earlier, and what has ended since may run again"}`;
}

export const LOSS_HINT =
	"nothing was changed: put the files back, or a back-up (docs/operating.md, Back-up); sluice up --accept-loss goes on with what is there";
