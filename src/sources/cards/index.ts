// Cards: Markdown files at <root>/phase-N-label/{backlog,in-progress,done}/<code>-slug.md. Each file is read once and again when it changes; what has
// not changed is only looked at when everything is.

import { type FSWatcher, watch } from "node:fs";
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Host } from "../../contracts/host.ts";
import type { ItemFault, Scan, Source, SourceSettings } from "../../contracts/source.ts";
import { codeOf, messageOf, SluiceError } from "../../core/errors.ts";
import { naturalOrder } from "../../core/text/natural-order.ts";
import { isInside } from "../../core/trust/path.ts";
import { readPlainFile } from "../../host/plain-file.ts";
import { type Card, type CardPath, cardCodeOf, cardOf, FOLDERS, type Folder, PHASE } from "./card.ts";
import { MAX_CARD, readCard } from "./front-matter.ts";
import { joinBoard } from "./queues.ts";
import { writeCard } from "./write.ts";

/** Editors write a file in several steps, so wait until it is quiet; a file that never becomes quiet is read anyway. */
const CALM_MS = 150;
const IMPATIENT_MS = 1500;
/** The net behind the watch. */
const LOOK_MS = 30_000;

const LINK_OUT = "is a link out of the source's folder";
/** Files that are looked at side by side. */
const FILES_AT_ONCE = 32;

/** `card`: the error if the file is no valid card. */
type Known = { place: CardPath; stamp: string; card: Card | SluiceError };

export type CardParts = {
	host: Pick<Host, "after">;
	/** Called for each file that is looked at, and for each that is read. For tests. */
	onAccess?: (what: "look" | "read", path: string) => void;
};

export function openCards(name: string, settings: SourceSettings, parts: CardParts): Source {
	const { host } = parts;
	const { root } = settings;
	/** By path. Two cards with one id are both here, and both at fault. */
	const files = new Map<string, Known>();
	const byId = new Map<string, Set<string>>();
	let troubles: ItemFault[] = [];
	let scanned: Promise<void> | undefined;

	const faultAt = (place: string, error: unknown, id: string | null = null): ItemFault => {
		const { code, message, hint } = error instanceof SluiceError ? error : { code: "invalid", message: String(error), hint: undefined };
		return { source: name, id, place, code, message: `${place}: ${message}`, hint: hint ?? null };
	};

	function forget(path: string): string | undefined {
		const known = files.get(path);
		if (!known) return undefined;
		files.delete(path);
		const id = cardCodeOf(known.place.name);
		byId.get(id)?.delete(path);
		if (byId.get(id)?.size === 0) byId.delete(id);
		return id;
	}

	/** A scan or the watcher may notice a change first; the listeners are called in both cases. */
	const unheard = new Set<string>();
	function notice(id: string | undefined): void {
		if (id === undefined) return;
		unheard.add(id);
		if (listeners.size > 0) stir();
	}

	/** Looks at one file; reads it only if it has changed. */
	async function look(path: string, place: CardPath, rootPath: string): Promise<void> {
		parts.onAccess?.("look", path);
		const stamp = await stampOf(path);
		if (stamp === null || stamp === "folder") {
			notice(forget(path));
			return;
		}
		if (files.get(path)?.stamp === stamp) return;
		let card: Known["card"];
		try {
			const real = stamp.startsWith("link ") ? await realpath(path) : path;
			if (real !== path && !isInside({ path: real, folder: rootPath }))
				throw new SluiceError("forbidden", LINK_OUT, { hint: "put the file itself there" });
			parts.onAccess?.("read", path);
			card = cardOf(name, readCard(await readPlainFile(real, MAX_CARD)), place, path, stamp);
		} catch (error) {
			card = error instanceof SluiceError ? error : new SluiceError("invalid", messageOf(error));
		}
		files.set(path, { place, stamp, card });
		const id = cardCodeOf(place.name);
		const paths = byId.get(id);
		if (paths) paths.add(path);
		else byId.set(id, new Set([path]));
		notice(id);
	}

	/** Everything. One pass at a time; who comes during one shares the next. */
	let running: Promise<void> | undefined;
	async function lookAtAll(): Promise<void> {
		await running?.catch(() => {});
		running ??= everything().finally(() => {
			running = undefined;
		});
		return running;
	}

	async function everything(): Promise<void> {
		troubles = [];
		const there = new Map<string, CardPath>();
		let rootPath: string;
		try {
			rootPath = await realpath(root);
		} catch (error) {
			throw new SluiceError("not_found", `source ${name}: ${messageOf(error)}`, { field: "root", hint: `make the folder ${root}` });
		}
		for (const phase of await names(root)) {
			if (!PHASE.test(phase)) continue;
			for (const folder of FOLDERS) {
				const dir = join(root, phase, folder);
				try {
					const real = await realpath(dir);
					if (real === rootPath || !isInside({ path: real, folder: rootPath })) throw new SluiceError("forbidden", LINK_OUT);
				} catch (error) {
					if (codeOf(error) !== "ENOENT") troubles.push(faultAt(dir, error));
					continue;
				}
				attend(dir, { phase, folder });
				for (const file of await names(dir)) {
					if (!isCard(file)) continue;
					there.set(join(dir, file), { phase, folder, name: file });
				}
			}
			attend(join(root, phase), null);
		}
		attend(root, null);
		const all = [...there];
		for (let at = 0; at < all.length; at += FILES_AT_ONCE)
			await Promise.all(all.slice(at, at + FILES_AT_ONCE).map(([path, place]) => look(path, place, rootPath)));
		for (const path of [...files.keys()]) if (!there.has(path)) notice(forget(path));
	}

	/** Several that are found together are queued as a person would read them: by phase, then by code. */
	function inOrder(ids: Iterable<string>): string[] {
		const phaseOf = (id: string) => files.get([...(byId.get(id) ?? [])][0] ?? "")?.place.phase ?? "";
		return [...ids].sort((a, b) => naturalOrder(phaseOf(a), phaseOf(b)) || naturalOrder(a, b));
	}

	const ready = () => {
		scanned ??= lookAtAll().catch((error) => {
			scanned = undefined;
			throw error;
		});
		return scanned;
	};

	function found(id: string): Card | SluiceError | null {
		const paths = [...(byId.get(id) ?? [])].sort();
		if (paths.length > 1)
			return new SluiceError("conflict", `two cards have the code ${id}: ${paths.map((path) => path.slice(root.length + 1)).join(", ")}`, {
				field: "item",
				hint: "give each a code of its own",
			});
		return files.get(paths[0] ?? "")?.card ?? null;
	}

	/** The files of one id as they are now; everything is looked at when one of them is not where it was. */
	async function fresh(id: string): Promise<Card | SluiceError | null> {
		await ready();
		const paths = [...(byId.get(id) ?? [])];
		let moved = paths.length === 0;
		if (!moved) {
			const rootPath = await realpath(root);
			for (const path of paths) {
				const known = files.get(path);
				if (known) await look(path, known.place, rootPath);
				moved ||= !files.has(path);
			}
		}
		if (moved) await lookAtAll();
		return found(id);
	}

	// ---- following changes ------------------------------------------------------------------------------------------------------
	const watchers = new Map<string, FSWatcher>();
	const listeners = new Set<(ids: string[]) => void>();
	const dirty = new Map<string, CardPath>();
	let wholly = false;
	let closed = false;
	let calm: (() => void) | undefined;
	let latest: (() => void) | undefined;
	let stopLooking = () => {};
	let netted = false;

	function attend(dir: string, inside: { phase: string; folder: Folder } | null): void {
		if (listeners.size === 0 || closed || watchers.has(dir)) return;
		try {
			const watcher = watch(dir, { persistent: false }, (_event, file) => {
				if (inside && file !== null && isCard(String(file))) dirty.set(join(dir, String(file)), { ...inside, name: String(file) });
				else if (!inside || file === null) wholly = true;
				else return;
				stir();
			});
			watcher.on("error", () => {
				watcher.close();
				if (watchers.get(dir) === watcher) watchers.delete(dir);
			});
			watchers.set(dir, watcher);
		} catch {
			// No watches left: the net catches it.
		}
	}

	function stir(): void {
		if (closed) return;
		calm?.();
		calm = host.after(CALM_MS, () => void settle());
		latest ??= host.after(IMPATIENT_MS, () => void settle());
	}

	async function settle(): Promise<void> {
		calm?.();
		latest?.();
		calm = latest = undefined;
		const some = [...dirty];
		const all = wholly;
		dirty.clear();
		wholly = false;
		try {
			if (all) {
				// A folder may have been made anew under its old name: its watch would see nothing.
				for (const watcher of watchers.values()) watcher.close();
				watchers.clear();
				await lookAtAll();
			} else {
				const rootPath = await realpath(root);
				for (const [path, place] of some) await look(path, place, rootPath);
			}
		} catch {
			// The folder is gone for the moment; the net looks again.
		}
		const ids = inOrder(unheard);
		unheard.clear();
		if (closed || ids.length === 0) return;
		for (const call of listeners) call(ids);
	}

	function net(): void {
		stopLooking = host.after(LOOK_MS, () => {
			wholly = true;
			void settle().finally(() => {
				if (!closed) net();
			});
		});
	}

	const scanOf = (): Scan => {
		const items: Card[] = [];
		const faults = [...troubles];
		for (const [id, paths] of byId) {
			const one = found(id);
			if (one === null) continue;
			if (!(one instanceof SluiceError)) items.push(one);
			else if (paths.size > 1) faults.push({ ...faultAt(id, one, id), message: one.message });
			else for (const path of paths) faults.push(faultAt(path, one, id));
		}
		const byPlace = (a: { place: string }, b: { place: string }) => naturalOrder(a.place, b.place);
		return { items: items.sort(byPlace), faults: faults.sort(byPlace) };
	};

	return {
		name,
		settings,
		async scan() {
			await lookAtAll();
			return scanOf();
		},
		read: async (id) => valid(await fresh(id)),
		// Where changes are watched, what is remembered is right, but for the moment that it takes to hear of them.
		peek: async (id) => valid(watchers.size > 0 && byId.has(id) ? found(id) : await fresh(id)),
		faults: () => scanOf().faults,
		watch(call) {
			listeners.add(call);
			if (!netted) net();
			netted = true;
			// What lies there already counts as changed.
			void lookAtAll()
				.then(() => {
					unheard.clear();
					if (!closed) call(inOrder(byId.keys()));
				})
				.catch(() => {});
			return () => listeners.delete(call);
		},
		join: (own) => joinBoard(root, own),
		async write(id, change) {
			for (let tries = 0; ; tries++) {
				const one = valid(await fresh(id));
				if (one === null) throw new SluiceError("not_found", `there is no card ${id}`, { field: "item" });
				try {
					const written = await writeCard(await realpath(one.place), change);
					await fresh(id);
					return written;
				} catch (error) {
					// Moved or deleted since it was found: it is looked for once more.
					if (codeOf(error) !== "ENOENT" || tries > 0) throw error;
				}
			}
		},
		close() {
			closed = true;
			calm?.();
			latest?.();
			stopLooking();
			for (const watcher of watchers.values()) watcher.close();
		},
	};
}

function valid(one: Card | SluiceError | null): Card | null {
	if (one instanceof SluiceError) throw one;
	return one;
}

const isCard = (name: string) => name.endsWith(".md") && !name.startsWith(".");

async function names(dir: string): Promise<string[]> {
	try {
		return (await readdir(dir)).sort();
	} catch (error) {
		const code = codeOf(error);
		if (code === "ENOTDIR" || code === "ENOENT") return [];
		throw error;
	}
}

/** Null when there is no such file. */
async function stampOf(path: string): Promise<string | null> {
	try {
		const own = await lstat(path, { bigint: true });
		const { ino, mtimeNs, ctimeNs, size } = own.isSymbolicLink() ? ((await stat(path, { bigint: true }).catch(() => null)) ?? own) : own;
		if (own.isDirectory()) return "folder";
		return `${own.isSymbolicLink() ? "link " : ""}${ino} ${mtimeNs} ${ctimeNs} ${size}`;
	} catch {
		return null;
	}
}
