// The tables of the shared migrations in PostgreSQL's words, and what only a database of many hosts needs: the head that transactions queue
// at, the writers, by whom an unknown outcome is told, and the function that writes.

import { createHash } from "node:crypto";
import { MIGRATIONS, SCHEMA_VERSION } from "../migrations/index.ts";
import { BODY, PARAMETERS } from "./columns.ts";
import { TABLE as PAGES } from "./pages.ts";
import { CLOCK } from "./session.ts";
import { LONG, lately, longAgo } from "./writers.ts";

/** Raised by the function when another writer has committed since. */
export const STALE = "SL001";

const TABLES = ["job", "done", "spec", "edge", "link", "run", "event", "page", "record"];
const NAMED = new RegExp(`\\b(FROM|INTO|UPDATE|JOIN|ON|TABLE|USING) (${[...TABLES, "head", "writer"].join("|")})\\b(?!\\.)`, "g");

/** Tables by their full names: a search path would be state of a session, which a pooler does not keep. */
export const qualified = (sql: string, schema: string): string =>
	sql.replace(NAMED, (_, word: string, table: string) => `${word} "${schema}".${table}`);

/** Numbers that may be fractions, as weights of the order can make them. */
const REAL = /\b(rank|level|age_at|ready_at|due_at|ended_at|at) INTEGER/g;

const translated = (sql: string) =>
	sql
		.replace(REAL, "$1 double precision")
		.replaceAll("INTEGER", "bigint")
		.replaceAll("TEXT", 'text COLLATE "C"')
		.replaceAll(" WITHOUT ROWID", "");

/** No read searches running jobs by their line, and each start would be an entry more (an index of them alone, by number, costs a start 2.5 µs of 25). */
const LINES = `
DROP INDEX IF EXISTS job_line;
CREATE INDEX IF NOT EXISTS job_waiting ON job (line, bucket, rank DESC, level DESC, age_at, id) WHERE line <> 'run';
`;

/** Rows of `job` and `record` are rewritten again and again: room on the page keeps that cheap, and their dead rows are cleared early. */
const TUNING = `
ALTER TABLE job SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_scale_factor = 0.05);
ALTER TABLE record SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);
CREATE TABLE head (one boolean PRIMARY KEY DEFAULT true CHECK (one), turn bigint NOT NULL, schema bigint NOT NULL) WITH (fillfactor = 10);
INSERT INTO head (turn, schema) VALUES (0, 0);
CREATE TABLE writer (name text PRIMARY KEY, last bigint NOT NULL, at timestamptz NOT NULL DEFAULT now()) WITH (fillfactor = 50);
`;

/**
 * Who has committed last (`last`), and what; those before in `lately`, by name, which goes to `writer` when it grows long: the row is written in any case, so
 * a few hosts in turns cost nothing more. And the counters. A Sluice that does not know of these, or of documents as they
 * are written now, must not go on, so the column that it looks at first has another name than it had then.
 */
const LAST = `
DO $rename$ BEGIN ALTER TABLE head RENAME COLUMN who TO last; EXCEPTION WHEN undefined_column THEN NULL; END $rename$;
ALTER TABLE head ADD COLUMN IF NOT EXISTS last text, ADD COLUMN IF NOT EXISTS txn bigint, ADD COLUMN IF NOT EXISTS counters text, ADD COLUMN IF NOT EXISTS secret text,
	ADD COLUMN IF NOT EXISTS lately jsonb NOT NULL DEFAULT '{}';
DO $rename$ BEGIN ALTER TABLE head RENAME COLUMN version TO turn; EXCEPTION WHEN undefined_column THEN NULL; END $rename$;
DO $rename$ BEGIN ALTER TABLE head RENAME COLUMN commits TO turn; EXCEPTION WHEN undefined_column THEN NULL; END $rename$;
UPDATE head SET secret = gen_random_uuid()::text || gen_random_uuid()::text WHERE secret IS NULL;
`;

/**
 * Writes one set of changes. With `expected` it is a transaction of its own that holds only if no other writer has committed since; without, it is a
 * part of one that has the lock. Its plans are made once a session; what makes PostgreSQL prefer a scan over an index is turned off, since
 * tables that were empty a moment ago fool it.
 */
const WRITE = (schema: string, name: string) => `
CREATE OR REPLACE FUNCTION "${schema}".${name}(expected bigint, me text, mine bigint, counting text, notice text, payload text, ${PARAMETERS.map(({ name, type }) => `${name} ${type}`).join(", ")})
RETURNS double precision LANGUAGE plpgsql
SET search_path = "${schema}", pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off SET enable_memoize = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $write$
#variable_conflict use_column
DECLARE before record;
BEGIN
	SELECT * FROM head FOR UPDATE INTO before;
	IF before.turn <> expected THEN RAISE EXCEPTION 'stale' USING ERRCODE = '${STALE}'; END IF;
	IF length(before.lately::text) > ${LONG} THEN
		${longAgo("(SELECT before.last, before.lately) AS b (last, lately)", "b.", "me")};
		UPDATE head SET turn = turn + 1, lately = ${lately("me", "anew")}, last = me, txn = mine, counters = counting;
	ELSE
		UPDATE head SET turn = turn + 1, lately = ${lately("me", "on")}, last = me, txn = mine, counters = counting;
	END IF;
	${BODY}
	IF notice IS NOT NULL THEN PERFORM pg_notify(notice, payload); END IF;
	RETURN ${CLOCK};
END
$write$;
`;

/** A name of its own for each form of the function: hosts of two versions can work side by side while a fleet is upgraded. */
export const WRITER = `write_${createHash("sha256").update(WRITE("", "")).digest("hex").slice(0, 10)}`;

/** Everything for an empty schema, or from an older one. Runs in one transaction under a lock. */
export function migration(schema: string, from: number): string {
	const steps = MIGRATIONS.slice(from).map((step) => translated(step.sql));
	const first = from === 0 ? TUNING : "";
	return `SET LOCAL search_path = "${schema}", pg_temp;\n${steps.join("\n")}\n${first}\n${LAST}\n${LINES}\n${PAGES}\n${WRITE(schema, WRITER)}\nUPDATE head SET schema = ${SCHEMA_VERSION};`;
}
