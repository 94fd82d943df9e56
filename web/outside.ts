// The browser's clock, timers and storage: the only file here that reads them.

export const now = (): number => Date.now();
export const monotonic = (): number => performance.now();

/** Calls back once, unless the returned function is called before. */
export function after(ms: number, call: () => void): () => void {
	const timer = setTimeout(call, ms);
	return () => clearTimeout(timer);
}

export function every(ms: number, call: () => void): () => void {
	const timer = setInterval(call, ms);
	return () => clearInterval(timer);
}

/** `browser`: for all tabs, also after the browser was closed. `tab`: for this tab and its reloads; a tab that `window.open` creates begins with a copy. */
export type Where = "browser" | "tab";
const storeOf = (where: Where): Storage => (where === "tab" ? sessionStorage : localStorage);

/** The browser's storage may be switched off: then values last as long as the page. */
const fallback = new Map<string, string>();
export function recall(key: string, where: Where = "browser"): string | null {
	try {
		return storeOf(where).getItem(key) ?? fallback.get(key) ?? null;
	} catch {
		return fallback.get(key) ?? null;
	}
}
export function keep(key: string, value: string | null, where: Where = "browser"): void {
	if (value === null) fallback.delete(key);
	else fallback.set(key, value);
	try {
		if (value === null) storeOf(where).removeItem(key);
		else storeOf(where).setItem(key, value);
	} catch {
		// Switched off, or full.
	}
}
