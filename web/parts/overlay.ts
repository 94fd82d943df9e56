// What lies over the page besides a question: the command palette, the form for a job. One at a time.

import { app } from "../app.ts";

export type Overlay = { kind: "palette"; job: number | null };

class OverlayState {
	open: Overlay | null = null;

	show(overlay: Overlay | null): void {
		this.open = overlay;
		app.tell("talk");
	}
}

export const overlay = new OverlayState();

/** The job that a person means: the open one, else the one whose card has the focus. */
export function jobInHand(): number | null {
	if (app.place.job !== null) return app.place.job;
	const card = document.activeElement instanceof HTMLElement ? document.activeElement.closest<HTMLElement>("[data-card]") : null;
	return card?.dataset.card === undefined ? null : Number(card.dataset.card);
}

export const openPalette = (): void => overlay.show({ kind: "palette", job: jobInHand() });
