// Which store a daemon works on: its home's own file, or one that it shares with other hosts; and the binding of a home to its store.

import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { orElse, SluiceError } from "../../core/errors.ts";
import { isDatabase, secretsIn, shownStore } from "../../core/text/store-address.ts";
import { withoutEnd } from "../../core/text/text-end.ts";
import type { Settings } from "../config/settings.ts";
import { type Home, networkKind } from "../service/home.ts";
import { writeWhole } from "../service/write-file.ts";

export type StorePlace = {
	at: { path: string } | { url: string };
	/** Other hosts may use it, so names, leases and stored settings count. */
	shared: boolean;
	/** For messages: without passwords. */
	shown: string;
	secrets: string[];
};

export function storeOf({ store }: Pick<Settings, "store">, home: Pick<Home, "database">): StorePlace {
	if (store === null) return { at: { path: home.database }, shared: false, shown: home.database, secrets: [] };
	if (isDatabase(store)) return { at: { url: store }, shared: true, shown: shownStore(store), secrets: secretsIn(store) };
	const path = realPath(store.replace(/^~(?=\/)/, homedir()));
	const kind = existsSync(dirname(path)) ? networkKind(dirname(path)) : null;
	if (kind !== null)
		throw new SluiceError("store", `the store ${path} is on a network file system (${kind}), where locks cannot be trusted`, {
			field: "store",
			hint: "hosts on several machines share a PostgreSQL database",
		});
	return { at: { path }, shared: path !== realPath(home.database), shown: path, secrets: [] };
}

function realPath(path: string): string {
	try {
		return realpathSync(path);
	} catch {
		return orElse(() => join(realpathSync(dirname(path)), basename(path)), path);
	}
}

/** The name of this host: letters, digits and a few signs, as host names have. */
export function hostNameOf({ host }: Pick<Settings, "host">, { shared }: StorePlace, machine: string = hostname()): string {
	if (host.name !== null) return host.name;
	if (!shared) return "local";
	return withoutEnd((machine.split(".")[0] ?? "").replaceAll(/[^\p{L}\p{N}_+-]+/gu, "-").replace(/^-+/, ""), "-").slice(0, 60) || "host";
}

/**
 * Run folders are named by job numbers that the store assigns, so runs of two stores must not meet in one home. A home belongs to the first store it works
 * on, as long as it has runs.
 */
export async function bindHome(home: Pick<Home, "path" | "runs">, store: StorePlace, identify: () => Promise<string>): Promise<void> {
	const path = join(home.path, "store");
	const id = await identify();
	const text = `${id} ${store.shared ? "shared" : "own"} ${store.shown}\n`;
	const [, known, kind, where] = /^(\S+) (shared|own) (.*)\n?$/.exec(existsSync(path) ? readFileSync(path, "utf8") : "") ?? [];
	const strange = known !== id && (store.shared || kind === "shared");
	if (strange && readdirSync(home.runs).length > 0)
		throw new SluiceError("conflict", `the runs in ${home.runs} belong to another store${where === undefined ? "" : ` (${where})`}`, {
			field: "store",
			hint:
				kind === "shared" && !store.shared
					? `sluice up --store ${where} goes on with it (with its password, if it has one), or store: in config.yml; for a queue of its own set SLUICE_HOME to a new folder`
					: "a home belongs to one store: set SLUICE_HOME to a new folder, or use the store that it had",
		});
	if (known !== id || !text.endsWith(`${kind} ${where}\n`)) writeWhole(path, text);
}
