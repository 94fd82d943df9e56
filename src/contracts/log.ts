// Contract of the log: what the daemon and its parts write to daemon.log. Only words and plain fields; the log's implementation masks secrets.

export type Level = "debug" | "info" | "warn" | "error";
export type LogFields = Record<string, unknown>;

/** Never throws and never waits: a log that cannot be written must not stop a run. */
export type Log = Record<Level, (message: string, fields?: LogFields) => void>;

export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
