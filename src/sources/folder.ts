// A folder of prompt files, one item each: `fix-login.md` is the item fix-login, its text the prompt. The item of
// a file that is removed is not closed, since editors remove a file for a moment when they save it: its job waits until the file is back, or is cancelled.

import { lstat, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { type Item, type ItemFault, plainItem, type Source, type SourceSettings } from "../contracts/source.ts";
import { codeOf, type ErrorCode, messageOf, nth, SluiceError } from "../core/errors.ts";
import * as check from "../core/input/check.ts";
import { naturalOrder } from "../core/text/natural-order.ts";
import { isInside } from "../core/trust/path.ts";
import { readPlainFile } from "../host/plain-file.ts";

const KINDS = /\.(?:md|txt|prompt)$/;

export function openFolder(name: string, settings: SourceSettings): Source {
	const { root } = settings;
	const idOf = (file: string) => file.replace(KINDS, "");

	async function files(): Promise<Map<string, string[]>> {
		let all: string[];
		try {
			all = (await readdir(root)).sort(naturalOrder);
		} catch (error) {
			throw new SluiceError("not_found", `source ${name}: ${messageOf(error)}`, { field: "root", hint: `make the folder ${root}` });
		}
		const byId = new Map<string, string[]>();
		for (const file of all) if (KINDS.test(file) && !file.startsWith(".")) byId.set(idOf(file), [...(byId.get(idOf(file)) ?? []), file]);
		return byId;
	}

	async function readOne(id: string, found: readonly string[]): Promise<Item> {
		if (found.length > 1)
			throw new SluiceError("conflict", `two files are the item ${id}: ${found.join(", ")}`, { field: "item", hint: "rename one of them" });
		const path = join(root, nth(found, 0));
		const fault = (code: ErrorCode, why: string, hint?: string) => new SluiceError(code, `${path}: ${why}`, { field: "item", hint });
		check.word(id, "item");
		const real = await realpath(path);
		if (!isInside({ path: real, folder: await realpath(root) })) throw fault("forbidden", "is a link out of the source's folder");
		const bytes = await readPlainFile(real, check.MAX_TEXT).catch((error) => {
			throw error instanceof SluiceError ? fault(error.code, error.message, error.hint) : error;
		});
		let text: string;
		try {
			text = new TextDecoder("utf-8", { fatal: true }).decode(bytes).trim();
		} catch {
			throw fault("invalid", "is not UTF-8", "save it as UTF-8");
		}
		if (text === "") throw fault("invalid", "is empty", "write down what is to be done");
		const first = nth(text.split("\n", 1), 0)
			.replace(/^#+\s*/, "")
			.trim();
		const { mtimeMs, size, ino } = await lstat(real);
		return {
			...plainItem(name, id),
			title: check.text(first, `${path}: title`, { max: 10_000, lines: "one" }),
			text,
			eligible: true,
			place: path,
			mark: `${ino} ${mtimeMs} ${size}`,
		};
	}

	return {
		name,
		settings,
		async scan() {
			const items: Item[] = [];
			const faults: ItemFault[] = [];
			for (const [id, found] of await files())
				try {
					items.push(await readOne(id, found));
				} catch (error) {
					const hint = error instanceof SluiceError ? (error.hint ?? null) : null;
					faults.push({
						source: name,
						id,
						place: join(root, nth(found, 0)),
						code: codeOf(error) || "invalid",
						message: messageOf(error),
						hint,
					});
				}
			return { items, faults };
		},
		async read(id) {
			const found = (await files()).get(id);
			return found ? readOne(id, found) : null;
		},
		close() {},
	};
}
