// What lies over the page besides a question: the command palette, the form for a job. One at a time.

import { app } from "../app.ts";

type Overlay =
	| { kind: "palette"; job: number | null }
	| { kind: "form"; how: "add" }
	| { kind: "form"; how: "clone" | "edit"; job: number };

class OverlayState {
	open: Overlay | null = null;

	show(overlay: Overlay | null): void {
		this.open = overlay;
		app.tell("talk");
	}
}

export const overlay = new OverlayState();

export function focusedCard(): number | null {
	const card = document.activeElement instanceof HTMLElement ? document.activeElement.closest<HTMLElement>("[data-card]") : null;
	return card?.dataset.card === undefined ? null : Number(card.dataset.card);
}

/** The job that a person means: the open one, else the one whose card has the focus. */
export const openPalette = (): void => overlay.show({ kind: "palette", job: app.place.job ?? focusedCard() });

/** The form for a new job, for a copy of one, or to change one that waits. */
export function openForm(how: "add"): void;
export function openForm(how: "clone" | "edit", job: number): void;
export function openForm(how: "add" | "clone" | "edit", job = 0): void {
	if (!app.mayAct) app.say("failed", "This page can only look. The operator's link acts: sluice open prints it.");
	else overlay.show(how === "add" ? { kind: "form", how } : { kind: "form", how, job });
}
