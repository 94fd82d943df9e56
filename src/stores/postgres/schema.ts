// Names of the tables in PostgreSQL, the types of their columns, and expressions that several files use.

const SCHEDULING = ["job", "done", "spec", "edge", "link", "run", "event", "record"];
const FLEET = ["head", "term", "member", "request", "reply", "heartbeat", "box"];
export const TABLES = { scheduling: SCHEDULING, fleet: FLEET };

const NAMED = new RegExp(`\\b(FROM|INTO|UPDATE|JOIN|ON|TABLE|USING) (${[...SCHEDULING, ...FLEET].join("|")})\\b(?!\\.)`, "g");

/** Tables by their full names: a search path would be state of a session, which a pooler does not keep. */
export const qualified = (sql: string, schema: string): string =>
	sql.replace(NAMED, (_, word: string, table: string) => `${word} "${schema}".${table}`);

/** The database's time in whole milliseconds. */
export const CLOCK = "floor(extract(epoch FROM clock_timestamp()) * 1000)";

/** The two keys of the advisory lock that the leader's session holds. Each database has its own locks. */
export const leaderKey = (schema: string): string => `7551221, hashtext('${schema}')`;

/** The host of a running job, NULL if its document cannot be parsed. An index has it, for `WHERE line = 'run' AND … = HOST`. */
export const runHost = (schema: string): string => `"${schema}".run_host(doc)`;

/** Numbers that may be fractions, as weights of the order can make them. */
export const REALS = ["rank", "level", "age_at", "ready_at", "due_at", "ended_at", "at"];
const TEXTS = ["line", "status", "lane", "batch", "policy", "key", "role", "kind", "by"];
const DOCUMENTS = ["doc", "body", "data"];

/** The type of a column of the scheduling tables, by its name. A `document` is a text that is JSON. */
export function typeOf(column: string): "bigint" | "double precision" | "text" | "document" {
	if (REALS.includes(column)) return "double precision";
	if (TEXTS.includes(column)) return "text";
	return DOCUMENTS.includes(column) ? "document" : "bigint";
}
