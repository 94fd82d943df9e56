// Contract of the log: what the daemon and its parts say to whoever reads daemon.log. Only words and plain fields; secrets are masked by the writer.

export type Level = "debug" | "info" | "warn" | "error";
export type LogFields = Record<string, unknown>;

/** Never throws, never waits: a log that cannot be written must not stop a run. */
export type Log = Record<Level, (message: string, fields?: LogFields) => void>;

export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
