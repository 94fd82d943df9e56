// The tables of the shared migrations in PostgreSQL's words, those that only a fleet has, and the way from schema 3 and older. There, every host wrote: `head`
// counted their commits and kept the records that each commit changed, many events at once stood in one row of `page`, and a function wrote.

import { REALS } from "../postgres/schema.ts";
import { MIGRATIONS, SCHEMA_VERSION } from "./index.ts";

const REAL = new RegExp(`\\b(${REALS.join("|")}) INTEGER`, "g");

const translated = (sql: string) =>
	sql
		.replace(REAL, "$1 double precision")
		.replaceAll("INTEGER", "bigint")
		.replaceAll("TEXT", 'text COLLATE "C"')
		.replaceAll(" WITHOUT ROWID", "");

/**
 * Running jobs have indexes of their own, by number and by host, and are left out of the one of waiting jobs. Rows of `job` and `record` are rewritten again and
 * again: room on the page keeps that cheap, and their dead rows are cleared early. The cost of `run_host` makes the planner prefer the index that has it.
 */
const TUNING = `
CREATE FUNCTION run_host(doc text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 10000 AS
$host$ BEGIN RETURN doc::json #>> '{run,host}'; EXCEPTION WHEN invalid_text_representation THEN RETURN NULL; END $host$;
DROP INDEX IF EXISTS job_line;
CREATE INDEX IF NOT EXISTS job_waiting ON job (line, bucket, rank DESC, level DESC, age_at, id) WHERE line <> 'run';
CREATE INDEX job_running ON job (id) WHERE line = 'run';
CREATE INDEX job_assigned ON job (run_host(doc), id) WHERE line = 'run';
ALTER TABLE job SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_scale_factor = 0.05);
ALTER TABLE record SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);
`;

/**
 * `term`: transaction T of epoch E was committed if and only if the next epoch's `first_txn` is at least T. `member`: which requests of it the leader has
 * consumed: all up to `floor`, and those listed in `above`. `request.void`: its member has withdrawn it. `box`: `version` is raised when an assignment of that host changes. `head.rank` is the leader's; a candidate of a
 * higher rank writes its own into `head.successor`, and the leader hands over. `head.schema` has this name
 * since version 1: every build looks there first, and refuses what is newer.
 */
const FLEET = `
CREATE TABLE IF NOT EXISTS head (one boolean PRIMARY KEY DEFAULT true CHECK (one), schema bigint NOT NULL) WITH (fillfactor = 10);
ALTER TABLE head ADD COLUMN secret text NOT NULL DEFAULT gen_random_uuid()::text || gen_random_uuid()::text,
	ADD COLUMN epoch bigint NOT NULL DEFAULT 0, ADD COLUMN txn bigint NOT NULL DEFAULT 0, ADD COLUMN rank int NOT NULL DEFAULT 0, ADD COLUMN successor int NOT NULL DEFAULT 0;
INSERT INTO head (schema) VALUES (0) ON CONFLICT DO NOTHING;
CREATE TABLE term (epoch bigint PRIMARY KEY, leader text NOT NULL, first_txn bigint NOT NULL, at double precision NOT NULL);
CREATE TABLE member (id text COLLATE "C" PRIMARY KEY, floor bigint NOT NULL, above text NOT NULL, seen_at double precision NOT NULL) WITH (fillfactor = 50);
CREATE TABLE request (id bigint GENERATED ALWAYS AS IDENTITY, member text COLLATE "C" NOT NULL, n bigint NOT NULL, at double precision NOT NULL, messages int NOT NULL, name text NOT NULL, args text NOT NULL,
	"by" text, until double precision, void boolean NOT NULL DEFAULT false, tries int NOT NULL DEFAULT 0, PRIMARY KEY (member, n));
CREATE TABLE reply (member text COLLATE "C" NOT NULL, n bigint NOT NULL, at double precision NOT NULL, error boolean NOT NULL, body text NOT NULL, PRIMARY KEY (member, n));
CREATE TABLE heartbeat (host text COLLATE "C" PRIMARY KEY, life bigint NOT NULL, at double precision NOT NULL, open boolean NOT NULL) WITH (fillfactor = 50);
CREATE TABLE box (host text COLLATE "C" PRIMARY KEY, version bigint NOT NULL) WITH (fillfactor = 50);
CREATE INDEX request_id ON request (id);
CREATE INDEX request_void ON request (member, n) WHERE void;
ALTER TABLE request SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
ALTER TABLE reply SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
`;

/** Columns of `head` that some version before had. `txn` and `secret` are made anew. */
const GONE = ["turn", "version", "commits", "last", "who", "lately", "counters", "txn", "secret"];

/** Between the data of the events of a page; where all have the same, it stands there once. */
const BETWEEN = "chr(29)";

/** The column and the table that the first versions did not have are made, so that one text serves all. */
const withoutManyWriters = (schema: string): string => `
ALTER TABLE head ADD COLUMN IF NOT EXISTS counters text;
CREATE TABLE IF NOT EXISTS page (last bigint PRIMARY KEY, at double precision NOT NULL, kind text NOT NULL, by text NOT NULL, jobs bigint[] NOT NULL, near bigint[] NOT NULL, data text NOT NULL);
CREATE TEMPORARY TABLE counter ON COMMIT DROP AS
	SELECT e.counter ->> 0 AS kind, e.counter ->> 1 AS key, nullif((e.counter -> 2)::text, 'null') AS body FROM head, json_array_elements(head.counters::json) AS e (counter);
DELETE FROM record USING counter WHERE counter.body IS NULL AND record.kind = counter.kind AND record.key = counter.key;
INSERT INTO record (kind, key, body) SELECT kind, key, body FROM counter WHERE body IS NOT NULL ON CONFLICT (kind, key) DO UPDATE SET body = excluded.body;
INSERT INTO event (seq, at, kind, job, by, data)
	SELECT page.last - cardinality(page.jobs) + e.place, page.at, page.kind, e.job, page.by, coalesce(e.data, page.data)
	FROM page, unnest(page.jobs, string_to_array(page.data, ${BETWEEN})) WITH ORDINALITY AS e (job, data, place) WHERE e.job IS NOT NULL;
DROP TABLE page CASCADE;
DROP TABLE IF EXISTS writer;
DO $drop$ DECLARE written regprocedure; BEGIN
	FOR written IN SELECT p.oid FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = '${schema}' AND p.proname LIKE 'write\\_%'
	LOOP EXECUTE 'DROP FUNCTION ' || written; END LOOP;
END $drop$;
ALTER TABLE head ${GONE.map((column) => `DROP COLUMN IF EXISTS ${column}`).join(", ")};
`;

/** Everything for an empty schema (`from` 0), or from an older version. Runs in one transaction under a lock. */
export function migration(schema: string, from: number): string {
	const steps = MIGRATIONS.slice(from).map((step) => translated(step.sql));
	const before = from === 0 ? "" : withoutManyWriters(schema);
	const version = `UPDATE head SET schema = ${SCHEMA_VERSION};`;
	return [`SET LOCAL search_path = "${schema}", pg_temp;`, ...steps, before, TUNING, FLEET, version].join("\n");
}
