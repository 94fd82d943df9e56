// The page's one state: jobs, the daemon's status, where one is, what is being said. Parts of the page listen to the channels that they show.

import type { EventDocument } from "../src/api/documents.ts";
import type { LockDocument } from "../src/api/protocol/nouns.ts";
import type { MethodName, Params, Result } from "../src/api/protocol.ts";
import type { StatusDocument } from "../src/api/status-document.ts";
import { type Door, openDoor, Refused } from "./net/door.ts";
import { type Link, Sync } from "./net/sync.ts";
import { after, every, keep, monotonic, now, recall } from "./outside.ts";
import { heldBy } from "./state/held.ts";
import { Jobs } from "./state/jobs.ts";
import { addressOf, type Filter, type Place, placeOf, tokenOf } from "./state/place.ts";

export type Channel = "jobs" | "status" | "link" | "place" | "talk" | "clock";
export type Toast = { id: number; kind: "done" | "failed"; text: string; undo?: () => void };
export type Question = {
	title: string;
	text: string;
	yes: string;
	/** Something is lost by it. */
	grave: boolean;
	/** What is asked for besides a yes. */
	field?: { label: string; value: string; needed: boolean; lines: number };
	/** One of several, value and words; the first is the usual one. With another one the field may be empty. */
	choice?: { label: string; options: [value: string, words: string][] };
	act: (text: string, choice: string) => void;
};
export type Theme = "auto" | "light" | "dark";

const ONLY_LOOK = "Your token can only look. The operator's link acts: sluice open prints it.";
const TOKEN = "sluice.token";
const THEME = "sluice.theme";
/** Tabs that are not looked at save their work. */
const MANY = 2000;

export class App {
	readonly jobs = new Jobs();
	door: Door | null = null;
	link: Link = { phase: "loading", heardAt: 0, problem: null };
	status: StatusDocument | null = null;
	/** What keeps a job that its record does not tell; another function whenever that has changed. */
	held = heldBy({ holds: [], locks: [] });
	private around = "";
	/** Grows whenever something besides jobs may have changed: limits, holds, batches. */
	news = 0;
	me: { role: string; version: string; home: string } | null = null;
	place: Place = placeOf(location.search);
	theme: Theme = (recall(THEME) as Theme | null) ?? "auto";
	toasts: Toast[] = [];
	question: Question | null = null;
	helping = false;
	/** The daemon's clock minus this one's. */
	offsetMs = 0;

	private sync: Sync | null = null;
	private readonly listeners = new Map<Channel, Set<() => void>>();
	private readonly dirty = new Set<Channel>();
	private drawing = false;
	private drawnAt = 0;
	private toastCount = 0;
	private asking = false;
	private askAgain = false;

	/** The daemon's time: what the page's moments and countdowns go by. */
	now = (): number => now() + this.offsetMs;

	listen(channel: Channel, call: () => void): () => void {
		const set = this.listeners.get(channel) ?? new Set();
		this.listeners.set(channel, set);
		set.add(call);
		return () => set.delete(call);
	}

	/** Drawn with the next frame, however many changes come until then; long lists a few times a second. */
	tell(channel: Channel): void {
		this.dirty.add(channel);
		if (this.drawing) return;
		this.drawing = true;
		const draw = () => {
			this.drawing = false;
			this.drawnAt = monotonic();
			const some = [...this.dirty];
			this.dirty.clear();
			for (const one of some) for (const call of [...(this.listeners.get(one) ?? [])]) call();
		};
		const pause = channel === "jobs" && this.jobs.rows.size > MANY ? Math.max(0, this.drawnAt + 250 - monotonic()) : 0;
		if (pause > 0) {
			this.drawing = false;
			this.later ??= after(pause, () => {
				this.later = null;
				if (!this.drawing && this.dirty.size > 0) {
					this.drawing = true;
					requestAnimationFrame(draw);
				}
			});
		} else requestAnimationFrame(draw);
	}
	private later: (() => void) | null = null;

	start(): void {
		const given = tokenOf(location.hash);
		if (given !== null) {
			keep(TOKEN, given);
			history.replaceState(null, "", addressOf(this.place));
		}
		addEventListener("popstate", () => {
			this.place = placeOf(location.search);
			this.tell("place");
		});
		// A sign-in link that is opened in this very tab changes nothing but the fragment.
		addEventListener("hashchange", () => {
			const token = tokenOf(location.hash);
			if (token === null) return;
			history.replaceState(null, "", addressOf(this.place));
			this.signIn(token);
		});
		// What is drawn on a canvas does not follow by itself.
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.tell("place"));
		every(1000, () => this.tell("clock"));
		const token = recall(TOKEN);
		if (token !== null) this.open(token);
		this.paint();
	}

	get signedIn(): boolean {
		return this.door !== null;
	}

	signIn(token: string): void {
		keep(TOKEN, token);
		this.open(token);
	}

	signOut(): void {
		this.sync?.stop();
		keep(TOKEN, null);
		this.door = null;
		this.me = null;
		this.status = null;
		this.jobs.replace([], 0);
		this.tell("link");
	}

	private open(token: string): void {
		this.sync?.stop();
		this.door = openDoor(token);
		this.link = { phase: "loading", heardAt: monotonic(), problem: null };
		this.sync = new Sync({
			door: this.door,
			jobs: this.jobs,
			after,
			monotonic,
			changed: (events) => this.heard(events),
			linked: (link) => {
				const was = this.link.phase;
				this.link = link;
				if (was !== link.phase) this.tell("link");
				if (was !== link.phase && (link.phase === "live" || link.phase === "polling")) this.look();
			},
		});
		void this.sync.run();
		this.look();
		this.tell("link");
	}

	private heard(events: readonly EventDocument[]): void {
		this.tell("jobs");
		// A list may bring what waits for a lock: who has it is asked with the rest.
		if (events.length > 0 || this.jobs.columns.all.blocked.length > 0) this.look();
	}

	/** Status and clock; once a second at most. */
	look(): void {
		if (this.asking) {
			this.askAgain = true;
			return;
		}
		this.asking = true;
		void this.ask()
			.catch(() => {})
			.finally(() =>
				after(1000, () => {
					this.asking = false;
					if (this.askAgain) this.look();
					this.askAgain = false;
				}),
			);
	}

	private async ask(): Promise<void> {
		const { door } = this;
		if (!door) return;
		if (this.me === null) {
			const { role, version, home } = await door.call("scheduler.version", {});
			this.me = { role, version, home };
			this.tell("link");
		}
		const before = now();
		const status = await door.call("scheduler.status", {});
		if (status.now !== undefined) this.offsetMs = Math.round(Date.parse(status.now) - (before + now()) / 2);
		const waits = this.jobs.columns.all.blocked.some((row) => row.status === "waiting_on_locks");
		this.seeAround(status.holds, waits ? (await door.call("lock.list", {})).locks : [], status.frozen ?? []);
		this.status = status;
		this.news++;
		this.tell("status");
	}

	private seeAround(holds: StatusDocument["holds"], locks: readonly LockDocument[], frozen: readonly number[]): void {
		const around = JSON.stringify([holds.map(({ kind, scope }) => [kind, scope]), locks, frozen]);
		if (around === this.around) return;
		this.around = around;
		this.held = heldBy({ holds, locks, frozen });
		this.tell("jobs");
	}

	get mayAct(): boolean {
		return this.me?.role === "operator";
	}

	async call<M extends MethodName>(method: M, params: Params<M>, signal?: AbortSignal): Promise<Result<M>> {
		if (!this.door) throw new Refused("wrong_token", "you are not signed in");
		return this.door.call(method, params, signal);
	}

	/** Does something, and says what came of it. */
	async act<M extends MethodName>(
		method: M,
		params: Params<M>,
		done: (result: Result<M>) => string,
		undo?: () => void,
	): Promise<"done" | "failed"> {
		if (!this.mayAct) {
			this.say("failed", ONLY_LOOK);
			return "failed";
		}
		let how: "done" | "failed" = "done";
		try {
			const result = await this.call(method, params);
			// Before it is said to be done it is seen to be: what stands there can be acted on again at once.
			await this.ask().catch(() => {});
			this.say("done", done(result), undo);
		} catch (error) {
			how = "failed";
			const hint = error instanceof Refused && error.hint ? `: ${error.hint}` : "";
			this.say("failed", `${error instanceof Error ? error.message : String(error)}${hint}`);
		}
		this.look();
		return how;
	}

	say(kind: Toast["kind"], text: string, undo?: () => void): void {
		const toast = { id: ++this.toastCount, kind, text, ...(undo ? { undo } : {}) };
		this.toasts = [...this.toasts.slice(-3), toast];
		after(kind === "failed" ? 12_000 : 7000, () => this.hush(toast.id));
		this.tell("talk");
	}

	hush(id: number): void {
		this.toasts = this.toasts.filter((toast) => toast.id !== id);
		this.tell("talk");
	}

	confirm(question: Question | null): void {
		if (question && !this.mayAct) {
			this.say("failed", ONLY_LOOK);
			return;
		}
		this.question = question;
		this.tell("talk");
	}

	help(open: boolean): void {
		this.helping = open;
		this.tell("talk");
	}

	go(change: Partial<Omit<Place, "filter">> & { filter?: Partial<Filter> }, how: "push" | "replace" = "push"): void {
		this.place = { ...this.place, ...change, filter: { ...this.place.filter, ...change.filter } };
		const address = addressOf(this.place);
		if (how === "push") history.pushState(null, "", address);
		else history.replaceState(null, "", address);
		this.tell("place");
	}

	setTheme(theme: Theme): void {
		this.theme = theme;
		keep(THEME, theme === "auto" ? null : theme);
		this.paint();
		this.tell("place");
	}

	private paint(): void {
		document.documentElement.dataset.theme = this.theme;
	}
}

export const app = new App();
