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

/** A store that may be switched off: then what is kept lasts as long as the page. */
const fallback = new Map<string, string>();
export function recall(key: string): string | null {
	try {
		return localStorage.getItem(key) ?? fallback.get(key) ?? null;
	} catch {
		return fallback.get(key) ?? null;
	}
}
export function keep(key: string, value: string | null): void {
	if (value === null) fallback.delete(key);
	else fallback.set(key, value);
	try {
		if (value === null) localStorage.removeItem(key);
		else localStorage.setItem(key, value);
	} catch {
		// Switched off, or full.
	}
}
