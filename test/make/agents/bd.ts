// A stand-in for the program `bd` (beads), after its source: what list, ready, show, dep list, update and close print and take. It keeps each
// database in `.beads/db.json` of the folder that it is called in, and writes down how it was called.
//
//   list      all but gates, templates and infrastructure; each issue with its own dependency records, also those on other databases
//   ready     status open, not pinned, not deferred, not ephemeral, nothing of its own database blocks it: dependencies on others never block
//   show      dependencies as whole issues: those on other databases are left out
//   dep list  one id: as `show`; several: the records as they are stored

import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../folder.ts";

export type Bead = Record<string, unknown> & { id: string };

export type StandIn = {
	/** For PATH. */
	path: string;
	/** `<database> <arguments>` of each call, the database by the name that `town` gave it. */
	calls(): string[];
	forget(): void;
};

/** `bareList`: a version whose `list` leaves dependencies out; `oldDepList`: one whose `dep list` takes a single id. */
export function makeBd(options: { bareList?: boolean; oldDepList?: boolean } = {}): StandIn {
	const path = makeFolder();
	const log = join(path, "calls");
	writeFileSync(join(path, "bd"), `#!${process.execPath}\n${SCRIPT.replace("OPTIONS", JSON.stringify({ ...options, log }))}`);
	chmodSync(join(path, "bd"), 0o755);
	return {
		path,
		calls: () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []),
		forget: () => writeFileSync(log, ""),
	};
}

/** Databases side by side, as in a town: `{ hq: [...], gt: [...] }`. Returns their folders. */
export function makeTown<Name extends string>(databases: Record<Name, readonly Bead[]>): Record<Name, string> {
	const town = makeFolder();
	const roots = {} as Record<Name, string>;
	for (const [name, beads] of Object.entries(databases) as [Name, readonly Bead[]][]) {
		roots[name] = join(town, name);
		mkdirSync(join(roots[name], ".beads"), { recursive: true });
		setBeads(roots[name], beads);
	}
	return roots;
}

function setBeads(root: string, beads: readonly Bead[]): void {
	writeFileSync(join(root, ".beads/db.new"), JSON.stringify(beads));
	renameSync(join(root, ".beads/db.new"), join(root, ".beads/db.json"));
}

export const readBeads = (root: string): Bead[] => JSON.parse(readFileSync(join(root, ".beads/db.json"), "utf8"));

/** Changes one bead, as another person with `bd` would. */
export function changeBead(root: string, id: string, change: Record<string, unknown>): void {
	setBeads(
		root,
		readBeads(root).map((bead) => (bead.id === id ? { ...bead, ...change } : bead)),
	);
}

const SCRIPT = `
const { appendFileSync, readFileSync, renameSync, writeFileSync } = require("node:fs");
const { basename, join } = require("node:path");
const options = OPTIONS;
const [command, ...rest] = process.argv.slice(2);
const file = join(process.cwd(), ".beads", "db.json");
appendFileSync(options.log, basename(process.cwd()) + " " + [command, ...rest].join(" ") + "\\n");

const fail = (said) => { process.stderr.write("Error: " + said + "\\n"); process.exit(1); };
const print = (data) => {
	const text = process.env.BD_JSON_ENVELOPE === "1" ? { schema_version: 1, data } : data;
	process.stdout.write(JSON.stringify(text, null, 2) + "\\n");
};
let db;
try { db = JSON.parse(readFileSync(file, "utf8")); } catch { fail("no beads database found"); }
const find = (id) => db.find((one) => one.id === id);
const deps = (one) => one.dependencies ?? [];
const closed = (one) => one.status === "closed";
const INFRA = ["agent", "role", "message", "rig"];
const counted = (one, bare) => {
	const { dependencies, ...issue } = one;
	const parent = deps(one).find(({ type }) => type === "parent-child");
	return {
		...issue,
		...(bare || deps(one).length === 0 ? {} : { dependencies: deps(one).map((dep) => ({ issue_id: one.id, ...dep })) }),
		dependency_count: deps(one).filter(({ type }) => type === "blocks").length,
		dependent_count: 0,
		comment_count: 0,
		...(parent ? { parent: parent.depends_on_id } : {}),
	};
};
const whole = (one) => ({
	...one,
	dependencies: deps(one).flatMap(({ depends_on_id, type }) => {
		const { dependencies, ...other } = find(depends_on_id) ?? {};
		return other.id === undefined ? [] : [{ ...other, dependency_type: type }];
	}),
});
const isBlocked = (one) => deps(one).some(({ depends_on_id, type }) => {
	const other = find(depends_on_id);
	if (["blocks", "conditional-blocks", "waits-for"].includes(type)) return other !== undefined && !closed(other);
	return type === "parent-child" && other !== undefined && !closed(other) && isBlocked(other);
});
const isReady = (one) => one.status === "open" && !one.pinned && !one.ephemeral && !isBlocked(one)
	&& !["gate", "molecule", "merge-request", ...INFRA].includes(one.issue_type)
	&& !(Date.parse(one.defer_until ?? "") > Date.now());
const ids = (words) => words.filter((word) => !word.startsWith("-"));
const valueOf = (name) => rest[rest.indexOf(name) + 1];
const save = () => { writeFileSync(file + process.pid, JSON.stringify(db)); renameSync(file + process.pid, file); };

if (command === "list") {
	const shown = db.filter((one) => (rest.includes("--all") || !closed(one)) && !["gate", ...INFRA].includes(one.issue_type) && !one.is_template);
	print(shown.map((one) => counted(one, options.bareList)));
} else if (command === "ready") print(db.filter(isReady).map((one) => counted(one, false)));
else if (command === "show") {
	const found = ids(rest).map(find);
	if (found.includes(undefined)) fail("no issue found matching " + JSON.stringify(ids(rest)[found.indexOf(undefined)]));
	print(found.map(whole));
} else if (command === "dep" && rest[0] === "list") {
	const wanted = ids(rest.slice(1));
	if (wanted.length > 1 && options.oldDepList) fail("accepts 1 arg(s), received " + wanted.length);
	const found = wanted.flatMap((id) => find(id) ?? []);
	if (wanted.length > 1) print(found.flatMap((one) => deps(one).map((dep) => ({ issue_id: one.id, ...dep }))));
	else print(found.flatMap((one) => whole(one).dependencies));
} else if (command === "update") {
	const one = find(rest[0]);
	if (!one) fail("no issue found matching " + JSON.stringify(rest[0]));
	one.status = valueOf("--status");
	save();
	print([one]);
} else if (command === "close") {
	const one = find(rest[0]);
	if (!one) fail("no issue found matching " + JSON.stringify(rest[0]));
	Object.assign(one, { status: "closed", close_reason: valueOf("--reason") });
	save();
	print([one]);
} else fail("unknown command " + command);
`;
