// Each writer's last transaction, by which an unknown outcome is told: of the last writer of all in `head`, of those before in `head.lately`, by name. That row
// is written in any case, so a few hosts in turns cost nothing more; when it grows long, what is in it goes to rows of their own.

/** How long it may be: some twenty writers. */
export const LONG = 600;

/** How long it is. */
export const LENGTH = "length(lately::text)";

/** What a transaction of `me` leaves there of those before; `way`: begun anew where it is too long. */
export const lately = (me: string, way: "on" | "anew"): string =>
	`CASE WHEN last IS NULL OR last = ${me} THEN lately ELSE ${way === "on" ? "lately || " : ""}jsonb_build_object(last, txn) END`;

/** And what then goes elsewhere: `from` has the row as it was before. */
export const longAgo = (from: string, row: string, me: string): string => `INSERT INTO writer (name, last)
SELECT k.key, k.value::bigint FROM ${from}, jsonb_each_text(${row}lately) AS k WHERE ${row}last <> ${me}
ON CONFLICT (name) DO UPDATE SET last = excluded.last, at = now()`;

/** The last transaction of a writer, wherever it stands. */
export const lastOf = (schema: string, writer: string): string => `SELECT greatest(
(SELECT greatest(CASE WHEN last = ${writer} THEN txn END, (lately->>${writer})::bigint) FROM "${schema}".head),
(SELECT last FROM "${schema}".writer WHERE name = ${writer}))`;
