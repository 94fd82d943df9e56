// The tab's title and icon: how many things need a person, and whether the page is live.

import { app } from "../app.ts";

const ICON = (leaf: string, dot: string) =>
	`data:image/svg+xml,${encodeURIComponent(
		`<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect x='1' y='2' width='3' height='12' rx='1' fill='#5b6b7f'/><rect x='6.5' y='2' width='3' height='7' rx='1' fill='${leaf}'/><rect x='12' y='2' width='3' height='12' rx='1' fill='#5b6b7f'/>${dot}</svg>`,
	)}`;
const ICONS = {
	calm: ICON("#2f6fde", ""),
	asks: ICON("#2f6fde", "<circle cx='11.5' cy='11.5' r='4.5' fill='#d0342c'/>"),
	held: ICON("#b8860b", ""),
	stale: ICON("#9aa5b3", ""),
};

/** What a person has to do, as the daemon counts it. */
const needing = (): number => (app.status?.needs_human.length ?? 0) + (app.status?.unmerged?.length ?? 0);

export function listenToTitle(): void {
	const paint = () => {
		const needs = needing();
		const { job } = app.place;
		const name = job === null ? "Sluice" : `${job} ${app.jobs.rows.get(job)?.label ?? ""} · Sluice`;
		document.title = needs > 0 ? `(${needs}) ${name}` : name;
		const isStale = app.link.phase === "stale" || app.link.phase === "refused";
		const icon = ICONS[isStale ? "stale" : needs > 0 ? "asks" : app.status?.paused ? "held" : "calm"];
		const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
		if (link && link.href !== icon) link.href = icon;
	};
	for (const channel of ["status", "link", "place", "jobs"] as const) app.listen(channel, paint);
}
