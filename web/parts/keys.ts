// Keys that work everywhere; keys of a single view are defined in the view.

import { app } from "../app.ts";
import { selection } from "../finding/selection.ts";
import { VIEWS } from "../state/route.ts";
import { approve, askPause, cancel, promote, reject, resume, retry } from "./actions.ts";
import { focusedCard, openForm, openPalette, overlay } from "./overlay.ts";

export const isTyping = (target: EventTarget | null): boolean =>
	target instanceof HTMLElement &&
	(target.matches("input:not([type=range]):not([type=checkbox]), textarea, select") || target.isContentEditable);

/** Moves the focus between the cards of the page: columns from left to right, each from the top. */
function step(way: "up" | "down" | "left" | "right"): void {
	const cards = [...document.querySelectorAll<HTMLElement>("[data-card]")];
	const here = document.activeElement instanceof HTMLElement ? document.activeElement : null;
	const at = here?.matches("[data-card]") ? here.getBoundingClientRect() : null;
	if (!at || !here) {
		cards[0]?.focus();
		return;
	}
	let best: HTMLElement | null = null;
	let least = Number.POSITIVE_INFINITY;
	for (const card of cards) {
		if (card === here) continue;
		const to = card.getBoundingClientRect();
		const [dx, dy] = [to.left - at.left, to.top - at.top];
		const fits = { up: dy < -2 && Math.abs(dx) < 8, down: dy > 2 && Math.abs(dx) < 8, left: dx < -8, right: dx > 8 }[way];
		if (!fits) continue;
		const far = way === "up" || way === "down" ? Math.abs(dy) : Math.abs(dx) * 10 + Math.abs(dy);
		if (far < least) [best, least] = [card, far];
	}
	best?.focus({ preventScroll: true });
	best?.scrollIntoView({ block: "nearest" });
}

function onJob(key: string, id: number): boolean {
	const row = app.jobs.rows.get(id) ?? { id, label: `job ${id}`, status: "queued" as const };
	const does: Record<string, () => void> = {
		l: () => app.go({ tab: "log" }),
		h: () => app.go({ tab: "history" }),
		w: () => app.go({ tab: "why" }),
		c: () => cancel(row),
		r: () => retry(row),
		t: () => promote(id),
		a: () => approve(id),
		x: () => reject(id),
		Escape: () => app.go({ job: null }),
	};
	does[key]?.();
	return Object.hasOwn(does, key);
}

export function listenToKeys(): void {
	addEventListener("keydown", (event) => {
		if (event.defaultPrevented || app.question || app.helping || overlay.open || !app.signedIn) return;
		if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
			event.preventDefault();
			return openPalette();
		}
		if (event.metaKey || event.ctrlKey || event.altKey) return;
		const { key } = event;
		if (isTyping(event.target)) {
			if (key === "Escape") (event.target as HTMLElement).blur();
			return;
		}
		if (/^[1-8]$/.test(key)) app.go({ view: VIEWS[Number(key) - 1] ?? "now", job: null });
		else if (key === "/") document.getElementById("search")?.focus();
		else if (key === "?") app.help(true);
		else if (key === "n") openForm("add");
		else if (key === "d") app.setTheme(({ auto: "light", light: "dark", dark: "auto" } as const)[app.theme]);
		else if (key === "p") app.status?.paused ? resume() : askPause();
		else if (app.place.job !== null && onJob(key, app.place.job)) return event.preventDefault();
		else if ((app.place.view === "board" || app.place.view === "now") && app.place.job === null) {
			if (key === "Escape" && selection.size > 0) return selection.clear();
			if (key === "v") {
				const id = focusedCard();
				if (id !== null && app.mayAct) selection.toggle(id);
				return;
			}
			const way = ({ ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right", j: "down", k: "up" } as const)[key];
			if (way === undefined) return;
			step(way);
		} else return;
		event.preventDefault();
	});
}
