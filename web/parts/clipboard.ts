// Puts a text into the clipboard, also on pages without TLS, where browsers have no interface for it; and saves one as a file.

import { app } from "../app.ts";

export async function copyText(text: string, what: string): Promise<void> {
	try {
		if (navigator.clipboard) await navigator.clipboard.writeText(text);
		else copyBySelection(text);
		app.say("done", `Copied ${what}.`);
	} catch {
		app.say("failed", "The browser did not let this page copy. Select the text and press Ctrl C.");
	}
}

function copyBySelection(text: string): void {
	const area = document.createElement("textarea");
	area.value = text;
	document.body.append(area);
	area.select();
	const done = document.execCommand("copy");
	area.remove();
	if (!done) throw new Error("refused");
}

/** Offers a text as a download. */
export function saveFile(name: string, parts: BlobPart[]): void {
	const address = URL.createObjectURL(new Blob(parts, { type: "text/plain;charset=utf-8" }));
	const link = document.createElement("a");
	link.href = address;
	link.download = name;
	document.body.append(link);
	link.click();
	link.remove();
	URL.revokeObjectURL(address);
}
