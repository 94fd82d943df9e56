// A kernel.db as its own program leaves it: schema 2, and schema 3 with the queue's table word for word.

import { join } from "node:path";
import { openDatabase } from "../../../src/stores/sqlite/driver.ts";
import { makeFolder } from "../folder.ts";

const SCHEMA_2 = `
CREATE TABLE agent_processes (
    pid   INTEGER PRIMARY KEY AUTOINCREMENT,
    name  TEXT    NOT NULL,
    state TEXT    NOT NULL
);
CREATE TABLE agent_ledgers (
    pid        INTEGER NOT NULL,
    dim        TEXT    NOT NULL,
    used       REAL    NOT NULL DEFAULT 0,
    hard_limit REAL,
    PRIMARY KEY (pid, dim)
);
INSERT INTO agent_processes VALUES (1, 'researcher', 'READY'), (2, 'writer', 'RUNNING'), (5, 'old one', 'DEAD');
INSERT INTO agent_ledgers VALUES (1, 'tokens', 120, 1000), (2, 'cost', 2.5, 2), (2, 'wall', 7, NULL);
PRAGMA user_version = 2;
`;

const SCHEMA_3 = `
CREATE TABLE IF NOT EXISTS agent_schedule_queue (
    sched_id      INTEGER PRIMARY KEY AUTOINCREMENT,
    pid           INTEGER NOT NULL,
    priority      INTEGER NOT NULL DEFAULT 0,
    runnable_at   REAL    NOT NULL DEFAULT 0,
    deadline      REAL,
    trigger       TEXT    NOT NULL DEFAULT 'manual',
    payload       TEXT    NOT NULL DEFAULT '{}',
    state         TEXT    NOT NULL DEFAULT 'queued'
                  CHECK(state IN ('queued','dispatched','completed','expired','cancelled')),
    worker_id     TEXT,
    created_at    REAL    NOT NULL,
    dispatched_at REAL,
    completed_at  REAL,
    exit_kind     TEXT,
    FOREIGN KEY (pid) REFERENCES agent_processes(pid)
);

-- Composite index for the claim hot-path SELECT.
CREATE INDEX IF NOT EXISTS idx_sched_queue_pickable
    ON agent_schedule_queue (state, priority DESC, runnable_at, sched_id);

CREATE INDEX IF NOT EXISTS idx_sched_queue_pid
    ON agent_schedule_queue (pid);

CREATE INDEX IF NOT EXISTS idx_sched_queue_deadline
    ON agent_schedule_queue (deadline)
    WHERE deadline IS NOT NULL;
PRAGMA user_version = 3;
`;

const ENTRIES = `
INSERT INTO agent_schedule_queue VALUES
    (2, 1, 5, 0,            NULL,         'cron',   '{"message_id":1234567890123456789}', 'queued',     NULL,    1700000000.25, NULL,          NULL,          NULL),
    (3, 1, 9, 4102444800.0, 4102444900.5, 'manual', '{}',                                 'queued',     NULL,    1700000001,    NULL,          NULL,          NULL),
    (4, 2, 7, 0,            NULL,         'event',  '{"step":2}',                         'queued',     NULL,    1700000002,    NULL,          NULL,          NULL),
    (6, 2, 0, 0,            NULL,         'manual', '{}',                                 'dispatched', 'sup-7', 1700000003,    1700000010.5,  NULL,          NULL),
    (7, 1, 0, 0,            NULL,         'resume', '{}',                                 'completed',  'sup-7', 1700000004,    1700000011.25, 1700000012.75, 'crashed'),
    (8, 1, 0, 0,            1700000006.0, 'manual', '{}',                                 'expired',    NULL,    1700000005,    NULL,          NULL,          NULL),
    (9, 1, 0, 0,            NULL,         'manual', '{}',                                 'cancelled',  NULL,    1700000006,    NULL,          NULL,          NULL);
`;

export function makeKernelFile(schema: 2 | 3, more = ""): string {
	const path = join(makeFolder(), "kernel.db");
	const database = openDatabase(path);
	// The kernel's stores are in WAL mode.
	database.exec(`PRAGMA journal_mode = WAL; PRAGMA foreign_keys = OFF; ${SCHEMA_2} ${schema === 3 ? SCHEMA_3 + ENTRIES : ""} ${more}`);
	database.close();
	return path;
}
