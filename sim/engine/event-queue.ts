// The time of a simulated fleet: what is to happen, in the order of its moments. One event in a turn of the event loop, so that everything which an event sets
// off in promises is done before the next one. The same seed gives the same order.

type Event = { at: number; order: number; call: () => void; isWanted: () => boolean };

const ALWAYS = () => true;

export class EventQueue {
	/** In milliseconds; goes on only with the events, whatever the clock of the scheduler says. */
	now = 1_000_000;
	/** By moment, then by the order in which they were planned. */
	private readonly events: Event[] = [];
	private order = 0;
	private isRunning = false;
	private isOver = false;

	/** `isWanted`: false once the process that planned the event is dead. */
	after(ms: number, call: () => void, isWanted = ALWAYS): () => void {
		const event: Event = { at: this.now + Math.max(0, ms), order: ++this.order, call, isWanted };
		let index = this.events.length;
		while (index > 0 && (this.events[index - 1] as Event).at > event.at) index--;
		this.events.splice(index, 0, event);
		this.start();
		return () => {
			const found = this.events.indexOf(event);
			if (found >= 0) this.events.splice(found, 1);
		};
	}

	sleep(ms: number): Promise<void> {
		return new Promise((resolve) => void this.after(ms, resolve));
	}

	/** So much time passes at once, as on a machine that was suspended: what fell due meanwhile happens afterwards. */
	pass(ms: number): void {
		this.now += ms;
	}

	end(): void {
		this.isOver = true;
		this.events.length = 0;
	}

	private start(): void {
		if (this.isRunning || this.isOver) return;
		this.isRunning = true;
		setImmediate(this.turn);
	}

	private readonly turn = (): void => {
		this.isRunning = false;
		let event = this.events.shift();
		while (event && !event.isWanted()) event = this.events.shift();
		if (!event) return;
		this.now = Math.max(this.now, event.at);
		if (this.events.length > 0) this.start();
		event.call();
	};
}
