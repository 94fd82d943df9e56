// Every schema that was ever released, in order. A released step is never edited; a change is a new step.

export type Migration = { version: number; name: string; sql: string };

export const MIGRATIONS: readonly Migration[] = [
	{
		version: 1,
		name: "first",
		// Active and ended jobs have separate tables: `job` holds what can still move, `done` what has ended, `spec` what is written once and read once for
		// each run.
		sql: `
CREATE TABLE job (
	id INTEGER PRIMARY KEY,
	line TEXT NOT NULL,
	bucket INTEGER NOT NULL,
	rank INTEGER NOT NULL,
	level INTEGER NOT NULL,
	age_at INTEGER NOT NULL,
	ready_at INTEGER,
	due_at INTEGER,
	status TEXT NOT NULL,
	lane TEXT NOT NULL,
	batch TEXT,
	doc TEXT NOT NULL
);
CREATE INDEX job_line ON job (line, bucket, rank DESC, level DESC, age_at, id);
CREATE INDEX job_oldest ON job (bucket, ready_at, id) WHERE ready_at IS NOT NULL;
CREATE INDEX job_due ON job (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX job_batch ON job (batch, id) WHERE batch IS NOT NULL;
CREATE TABLE done (
	id INTEGER PRIMARY KEY,
	status TEXT NOT NULL,
	lane TEXT NOT NULL,
	batch TEXT,
	ended_at INTEGER NOT NULL,
	doc TEXT NOT NULL
);
CREATE INDEX done_ended ON done (ended_at, id);
CREATE INDEX done_batch ON done (batch, id) WHERE batch IS NOT NULL;
CREATE TABLE spec (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE edge (
	pred INTEGER NOT NULL,
	job INTEGER NOT NULL,
	policy TEXT NOT NULL,
	seq INTEGER NOT NULL,
	PRIMARY KEY (pred, job)
) WITHOUT ROWID;
CREATE INDEX edge_job ON edge (job, seq);
CREATE TABLE link (
	key TEXT NOT NULL,
	role TEXT NOT NULL,
	job INTEGER NOT NULL,
	PRIMARY KEY (key, role, job)
) WITHOUT ROWID;
CREATE INDEX link_job ON link (job);
CREATE TABLE run (
	job INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	doc TEXT NOT NULL,
	PRIMARY KEY (job, attempt)
) WITHOUT ROWID;
CREATE TABLE event (
	seq INTEGER PRIMARY KEY,
	at INTEGER NOT NULL,
	kind TEXT NOT NULL,
	job INTEGER,
	by TEXT NOT NULL,
	data TEXT NOT NULL
);
CREATE INDEX event_job ON event (job, seq) WHERE job IS NOT NULL;
CREATE TABLE record (
	kind TEXT NOT NULL,
	key TEXT NOT NULL,
	body TEXT NOT NULL,
	PRIMARY KEY (kind, key)
) WITHOUT ROWID;
`,
	},
	{
		version: 2,
		name: "shorter documents",
		// The tables are unchanged, but documents leave out what columns hold, and links record which jobs share a lock: an older Sluice would misread both.
		sql: "",
	},
	{
		version: 3,
		name: "what failed lately",
		// Lets `status` count the failures of a day without reading the successes. OR instead of IN: SQLite uses a partial index for a query whose condition
		// is one of the OR-connected terms of the index.
		sql: "CREATE INDEX IF NOT EXISTS done_failed ON done (status, ended_at) WHERE status = 'failed' OR status = 'blocked_by_dependency';",
	},
	{
		version: 4,
		name: "a record for every held lock",
		// Up to version 3 a running job could hold an exclusive lock without a record: its link of role `wants` said so. A key that has a record keeps it.
		sql: `
INSERT INTO record (kind, key, body)
SELECT 'lock', link.key, '{"holders":[[' || link.job || ',"exclusive"]]}' FROM link JOIN job ON job.id = link.job
WHERE link.role = 'wants' AND job.line = 'run'
ON CONFLICT (kind, key) DO NOTHING;
`,
	},
];

export const SCHEMA_VERSION = MIGRATIONS.length;
