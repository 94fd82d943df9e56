// The page's only state: jobs, the daemon's status, the present route, messages. Parts of the page listen to the channels that they show.

import type { StatusDocument } from "../src/api/documents/status.ts";
import type { EventDocument } from "../src/api/documents.ts";
import type { MethodName, Params, Result } from "../src/api/protocol.ts";
import { exchange, openDoor, Refused, type RpcClient } from "./net/client.ts";
import { queries } from "./net/queries.ts";
import { canShare, shareStream } from "./net/shared-stream.ts";
import { type LinkState, Sync } from "./net/sync.ts";
import { after, every, keep, monotonic, now, recall } from "./outside.ts";
import { Jobs } from "./state/jobs.ts";
import { ToldQueue } from "./state/queue.ts";
import { addressOf, codeIn, type Filter, type Route, routeOf } from "./state/route.ts";

export type Channel = "jobs" | "progress" | "status" | "link" | "place" | "talk" | "clock";
type Toast = { id: number; kind: "done" | "failed"; text: string; undo?: () => void };
export type Confirmation = {
	title: string;
	text: string;
	yes: string;
	/** The action loses something. */
	grave: boolean;
	/** A text to ask for besides the confirmation. */
	field?: {
		label: string;
		value: string;
		needed: boolean;
		lines: number;
		/** What was typed is kept under this name until it is sent, also through a reload. */
		draft?: string;
	};
	/** Which button Enter presses in a question without a field; by default the one that changes nothing. */
	first?: "yes";
	/** A choice, as value and label; the first is the default. If another one is chosen, the field may be empty. */
	choice?: { label: string; options: [value: string, words: string][] };
	act: (text: string, choice: string) => void;
};
type Theme = "auto" | "light" | "dark";

const ONLY_LOOK = "This page can only look. The operator's link acts: sluice open prints it.";
/** The page token: only for this tab, and valid only until the daemon ends. */
const PAGE_TOKEN = "sluice.page";
/**
 * A person's token, kept across restarts of browser and daemon. Only for pages with TLS: on plain HTTP another program could serve a page of this origin while
 * the daemon is down, and read it.
 */
const PERSON_TOKEN = "sluice.person";
const isSecure = (): boolean => location.protocol === "https:";
const heldToken = (): string | null => recall(PAGE_TOKEN, "tab") ?? (isSecure() ? recall(PERSON_TOKEN) : null);
/** Where earlier versions kept the operator's token; removed on start. */
const OLD_TOKEN = "sluice.token";
const NO_CODE = "This is no link of sluice open. A token of the home does not sign a page in";
const THEME = "sluice.theme";
/** With more jobs than this, the page redraws them at most four times a second. */
const MANY = 2000;
/** Ready jobs whose place is asked for. */
const PLACES = 2000;

class App {
	readonly jobs = new Jobs();
	door: RpcClient | null = null;
	link: LinkState = { phase: "loading", heardAt: 0, problem: null };
	/** `under`: a sign-in is in progress; `problem`: why the last one failed. */
	signing: { under: boolean; problem: string | null } = { under: false, problem: null };
	status: StatusDocument | null = null;
	/** The order of the queue, and what its jobs wait for; replaced whenever that has changed. */
	queue = new ToldQueue();
	private queued = "";
	/** Incremented whenever something besides jobs may have changed: limits, holds, batches. */
	revision = 0;
	me: Pick<Result<"scheduler.version">, "role" | "version" | "home" | "person" | "shared"> | null = null;
	/** The stream was cut since the daemon said which role this page has. */
	private isRoleOld = false;
	place: Route = routeOf(location.search);
	theme: Theme = (recall(THEME) as Theme | null) ?? "auto";
	toasts: Toast[] = [];
	question: Confirmation | null = null;
	helping = false;
	/** The daemon's clock minus this one's. */
	offsetMs = 0;

	private sync: Sync | null = null;
	private readonly listeners = new Map<Channel, Set<() => void>>();
	/** Counts the changes of all channels. */
	changes = 0;
	private readonly dirty = new Set<Channel>();
	private drawing = false;
	private drawnAt = 0;
	private toastCount = 0;
	private asking = false;
	private askAgain = false;

	/** The daemon's time, used for all times and countdowns of the page. */
	now = (): number => now() + this.offsetMs;

	listen(channel: Channel, call: () => void): () => void {
		const set = this.listeners.get(channel) ?? new Set();
		this.listeners.set(channel, set);
		set.add(call);
		return () => set.delete(call);
	}

	/** Redraws with the next frame, however many changes come until then; long lists a few times a second. */
	tell(channel: Channel): void {
		this.changes++;
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
		keep(OLD_TOKEN, null);
		// A tab that another tab opened has its token; if another program gets the port later, it must not reach this tab through `opener`.
		if (window.opener) window.opener = null;
		const given = this.takeFromAddress();
		addEventListener("popstate", () => {
			this.place = routeOf(location.search);
			this.tell("place");
		});
		// Opening a sign-in link in this same tab changes only the fragment.
		addEventListener("hashchange", () => {
			const link = this.takeFromAddress();
			if (link !== null) void this.signIn(link);
		});
		// A canvas does not follow a change of the colour scheme by itself.
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.tell("place"));
		every(1000, () => this.tell("clock"));
		document.addEventListener("visibilitychange", () => {
			if (!document.hidden) this.look();
			else if (!canShare(heldToken() ?? "")) this.sync?.drop();
		});
		const token = heldToken();
		if (token !== null) this.open(token);
		if (given !== null) void this.signIn(given);
		else if (token === null && isSecure()) void this.tryProxy();
		this.paint();
	}

	/** The fragment of a sign-in link, removed from the address; null if there is none. */
	private takeFromAddress(): string | null {
		const { hash } = location;
		if (!/^#(?:code|token)=/.test(hash)) return null;
		history.replaceState(null, "", addressOf(this.place));
		return hash;
	}

	/** Behind a proxy that signs people in, the page needs no token of its own. */
	private async tryProxy(): Promise<void> {
		try {
			await openDoor(null).call("scheduler.version", {});
			if (this.door === null) this.open(null);
		} catch {
			// No such proxy: the page asks for a link.
		}
	}

	/** Ends this person's session, here and at the daemon. */
	async signOut(): Promise<void> {
		await this.door?.signOut().catch(() => {});
		keep(PAGE_TOKEN, null, "tab");
		keep(PERSON_TOKEN, null);
		location.reload();
	}

	get signedIn(): boolean {
		return this.door !== null && this.link.phase !== "refused";
	}

	/** Signs in with a link of `sluice open`, or with the code in it. The page keeps its content. */
	async signIn(link: string): Promise<void> {
		const code = codeIn(link);
		this.signing = { under: code !== null, problem: code === null ? NO_CODE : null };
		this.tell("link");
		if (code === null) return;
		try {
			const token = await exchange(code);
			this.signing = { under: false, problem: null };
			keep(PAGE_TOKEN, token, "tab");
			if (isSecure() && token.startsWith("person.")) keep(PERSON_TOKEN, token);
			this.open(token);
		} catch (error) {
			const problem = error instanceof Error ? error.message : String(error);
			this.signing = { under: false, problem };
			if (this.signedIn) this.say("failed", `${problem}. You are signed in as before.`);
			this.tell("link");
		}
	}

	private open(token: string | null): void {
		this.sync?.stop();
		this.door = openDoor(token);
		this.me = null;
		this.link = { phase: "loading", heardAt: monotonic(), problem: null };
		const stream = shareStream(this.door, token ?? "");
		this.sync = new Sync({
			door: this.door,
			stream,
			...(canShare(token ?? "") ? {} : { wanted: inSight }),
			jobs: this.jobs,
			after,
			monotonic,
			changed: (events) => this.heard(events),
			progressed: () => this.tell("progress"),
			linked: (link) => {
				const { phase: was, problem } = this.link;
				this.link = link;
				if (link.phase === "refused") {
					keep(PAGE_TOKEN, null, "tab");
					keep(PERSON_TOKEN, null);
				}
				// The stream of a person is cut when the role changes: the page asks again what it may do, and stays as it is until the answer comes.
				if (link.phase === "live" && was !== "live") this.isRoleOld = true;
				if (was !== link.phase || problem !== link.problem) this.tell("link");
				if (was === link.phase || (link.phase !== "live" && link.phase !== "polling")) return;
				this.look();
				queries.heal();
			},
		});
		void this.sync.run();
		this.look();
		this.tell("link");
	}

	private heard(events: readonly EventDocument[]): void {
		this.tell("jobs");
		// A list may bring jobs that wait for a lock: `look` also asks which jobs hold it.
		if (events.length > 0 || this.jobs.columns.all.blocked.length > 0) this.look();
	}

	/** Updates status and clock, at most once a second. */
	look(): void {
		if (this.asking) {
			this.askAgain = true;
			return;
		}
		this.asking = true;
		void this.ask()
			.catch(() => {})
			.finally(() =>
				after(document.hidden ? HIDDEN_MS : 1000, () => {
					this.asking = false;
					if (this.askAgain) this.look();
					this.askAgain = false;
				}),
			);
	}

	private async ask(): Promise<void> {
		const { door } = this;
		if (!door) return;
		if (this.me === null || this.isRoleOld) {
			this.me = await door.call("scheduler.version", {});
			this.isRoleOld = false;
			this.tell("link");
		}
		const before = now();
		const status = await door.call("scheduler.status", {});
		if (status.now !== undefined) this.offsetMs = Math.round(Date.parse(status.now) - (before + now()) / 2);
		this.see(await door.call("job.queue", { limit: PLACES }), status.frozen ?? []);
		this.status = status;
		this.revision++;
		this.tell("status");
	}

	private see({ jobs, causes, locked, counts, ready }: Result<"job.queue">, frozen: readonly number[]): void {
		const told = { jobs, causes, locked, counts, ready };
		const queued = JSON.stringify([told, frozen]);
		if (queued === this.queued) return;
		this.queued = queued;
		this.queue = new ToldQueue(told, new Set(frozen));
		this.tell("jobs");
	}

	get mayAct(): boolean {
		return this.me?.role === "operator" || this.mayManage;
	}

	/** Settings, caps, budgets, people, the record of calls. */
	get mayManage(): boolean {
		return this.me?.role === "admin";
	}

	async call<M extends MethodName>(method: M, params: Params<M>, signal?: AbortSignal): Promise<Result<M>> {
		if (!this.door) throw new Refused("signed_out", "you are not signed in");
		return this.door.call(method, params, signal);
	}

	/** Calls a method, and shows the result. */
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
			// Refreshes before it reports success, so that the page shows the new state and can act on it at once.
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

	confirm(question: Confirmation | null): void {
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

	go(change: Partial<Omit<Route, "filter">> & { filter?: Partial<Filter> }, how: "push" | "replace" = "push"): void {
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

/** A hidden tab still counts what needs a person, for its title. */
const HIDDEN_MS = 10_000;

/** Resolves when the page is in sight. */
const inSight = (): Promise<void> =>
	document.hidden
		? new Promise((resolve) => {
				const look = () => {
					if (document.hidden) return;
					document.removeEventListener("visibilitychange", look);
					resolve();
				};
				document.addEventListener("visibilitychange", look);
			})
		: Promise.resolve();

export const app = new App();
