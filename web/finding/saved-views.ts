// Views that a person has given a name: a view with its filter, kept in this browser.

import { app } from "../app.ts";
import { keep, recall } from "../outside.ts";
import { addressOf, routeOf } from "../state/route.ts";

/** `search`: the part of the address after the question mark. */
export type SavedView = { name: string; search: string };

const KEY = "sluice.views";
const MOST = 100;

/** What the storage has is text that any page of this origin could have written. */
export function savedViews(): SavedView[] {
	try {
		const found: unknown = JSON.parse(recall(KEY) ?? "[]");
		if (!Array.isArray(found)) return [];
		return found.filter((one): one is SavedView => typeof one?.name === "string" && typeof one?.search === "string").slice(0, MOST);
	} catch {
		return [];
	}
}

function store(views: SavedView[]): void {
	keep(KEY, JSON.stringify(views.slice(0, MOST)));
	app.tell("place");
}

export function openSaved({ search }: SavedView): void {
	const { view, filter } = routeOf(search);
	app.go({ view, job: null, filter });
}

const here = (): string => addressOf({ ...app.place, job: null, wall: false }).slice(1);

export const isSaved = (): boolean => savedViews().some(({ search }) => search === here());

export function askSaveView(): void {
	app.confirm({
		title: "Save this view",
		text: "The view with its filter, under a name, in this browser. A name that is there already gets the new one.",
		yes: "Save",
		grave: false,
		field: { label: "Name", value: app.place.filter.q.slice(0, 60), needed: true, lines: 1 },
		act: (text) => {
			const name = text.trim().slice(0, 80);
			store([...savedViews().filter((one) => one.name !== name), { name, search: here() }]);
			app.say("done", `Saved as “${name}”.`, () => store(savedViews().filter((one) => one.name !== name)));
		},
	});
}

export function forgetView(name: string): void {
	const before = savedViews();
	store(before.filter((one) => one.name !== name));
	app.say("done", `The view “${name}” is forgotten.`, () => store(before));
}
