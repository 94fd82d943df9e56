// Watches what a repository's facts depend on, so that a change is noticed at once instead of at the next poll: its refs, HEAD, index and files of operations
// under way, and the folders of files that jobs need. Only a hint: where watching is not possible, polling is enough.

import { existsSync, type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Host } from "../contracts/host.ts";
import { orElse } from "../core/errors.ts";
import { isInside } from "../core/trust/path.ts";
import { localDisk } from "./disk.ts";

export type WatchParts = {
	host: Pick<Host, "after">;
	/** Folders of the repos, by name. */
	repos: () => Record<string, { path: string }>;
	/** Paths that jobs of a repo need. */
	files: (repo: string) => string[];
	/** Called when something of this repo may have changed. Must not throw. */
	changed: (repo: string) => void;
};

/** Collects notifications for this long, because git renames several files for one change. */
const CALM_MS = 25;
/** How often to look for new repos, new folders of refs, and folders that came back. */
const LOOK_MS = 2000;
const MOST_FOLDERS = 500;
/** Files that git writes while reading, or before the change that matters. */
const NOISE = /(?:\.lock$)|^(?:FETCH_HEAD|ORIG_HEAD|COMMIT_EDITMSG|gc\.pid|objects|logs|sluice-.*)$/;

export function watchRepos({ host, repos, files, changed }: WatchParts): { look(): void; close(): void } {
	/** Watchers by repo, then by folder. */
	const watches = new Map<string, Map<string, FSWatcher>>();
	const calm = new Map<string, () => void>();
	let closed = false;
	let stopLooking = () => {};

	function stirred(repo: string, name: string | null): void {
		if (closed || (name !== null && NOISE.test(name)) || calm.has(repo)) return;
		calm.set(
			repo,
			host.after(CALM_MS, () => {
				calm.delete(repo);
				if (closed) return;
				attend(repo);
				changed(repo);
			}),
		);
	}

	function attend(repo: string): void {
		const place = Object.hasOwn(repos(), repo) ? repos()[repo] : undefined;
		const wanted = new Set(place ? [...gitFolders(place.path), ...fileFolders(place.path, files(repo))] : []);
		const held = watches.get(repo) ?? new Map<string, FSWatcher>();
		watches.set(repo, held);
		for (const [folder, watcher] of held)
			if (!wanted.has(folder)) {
				watcher.close();
				held.delete(folder);
			}
		for (const folder of wanted) if (!held.has(folder)) hold(repo, folder, held);
		if (!place) watches.delete(repo);
	}

	function hold(repo: string, folder: string, held: Map<string, FSWatcher>): void {
		try {
			const watcher = watch(folder, { persistent: false }, (_, name) => stirred(repo, name));
			const drop = () => {
				watcher.close();
				if (held.get(folder) === watcher) held.delete(folder);
			};
			watcher.on("error", drop);
			held.set(folder, watcher);
		} catch {
			// No inotify watches are left, or the folder has just been removed.
		}
	}

	function look(): void {
		stopLooking();
		if (closed) return;
		for (const repo of new Set([...Object.keys(repos()), ...watches.keys()])) attend(repo);
		stopLooking = host.after(LOOK_MS, look);
	}

	return {
		look,
		close() {
			closed = true;
			stopLooking();
			for (const cancel of calm.values()) cancel();
			for (const held of watches.values()) for (const watcher of held.values()) watcher.close();
			watches.clear();
		},
	};
}

function gitFolders(path: string): string[] {
	const own = gitFolder(path);
	if (own === null) return [];
	const shared = textOf(join(own, "commondir"));
	const common = shared === null ? own : resolve(own, shared.trim());
	const reftable = join(common, "reftable");
	return [...new Set([own, common, ...(existsSync(reftable) ? [reftable] : []), ...tree(join(common, "refs", "heads"))])];
}

/** The git folder: `.git` is a folder or a file that names one; a bare repository is its own. */
function gitFolder(path: string): string | null {
	const inside = join(path, ".git");
	const stat = statSync(inside, { throwIfNoEntry: false });
	if (stat?.isDirectory()) return inside;
	if (stat?.isFile()) {
		const named = /^gitdir: (.+)$/m.exec(textOf(inside) ?? "")?.[1];
		return named === undefined ? null : resolve(path, named.trim());
	}
	return existsSync(join(path, "HEAD")) && existsSync(join(path, "refs")) ? path : null;
}

function tree(folder: string): string[] {
	const found = [folder];
	for (let index = 0; index < found.length && found.length < MOST_FOLDERS; index++) {
		const at = found[index] as string;
		try {
			for (const entry of readdirSync(at, { withFileTypes: true })) if (entry.isDirectory()) found.push(join(at, entry.name));
		} catch {
			// The folder was removed meanwhile.
		}
	}
	return found;
}

/** The folder of each file, or its nearest existing parent. */
function fileFolders(root: string, paths: readonly string[]): string[] {
	const found = new Set<string>();
	for (const path of paths.slice(0, MOST_FOLDERS)) {
		let folder = dirname(resolve(root, path));
		while (folder !== dirname(folder) && !existsSync(folder)) folder = dirname(folder);
		if (isInside({ path: folder, folder: root })) found.add(folder);
	}
	return [...found];
}

const textOf = (path: string): string | null => orElse(() => localDisk.read(path), null);
