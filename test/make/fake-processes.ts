// Processes as a test wants them: nothing runs but what the test makes run, and signals do what the program was said to do with them.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Ancestor, CallerProcess, Launch, Processes } from "../../src/contracts/processes.ts";
import type { Sighting } from "../../src/core/runs/sighting.ts";

type Program = { began?: number; pid: number; ignores: Set<NodeJS.Signals>; stopped: boolean; got: NodeJS.Signals[] };

/** The state of a machine: it stays when a supervisor goes and another one comes. */
class FakeMachine {
	/** Handed over, in order; those a launcher still has in hand. */
	readonly launched: Launch[] = [];
	readonly pending = new Map<string, Launch>();
	readonly shims = new Map<string, Program>();
	readonly children = new Map<string, Program[]>();
	readonly booted = new Set<string>();
	/** Every signal, as `run SIGTERM` for a session, `mark/pid SIGTERM` for a single process. */
	readonly signals: string[] = [];
	private pids = 100;

	program(ignores: NodeJS.Signals[] = []): Program {
		return { pid: ++this.pids, ignores: new Set(ignores), stopped: false, got: [] };
	}
}

export class FakeProcesses implements Processes {
	private call: (run: string) => void = () => {};
	/** False: hand-overs stay with the launcher until `start` is called. */
	prompt = true;
	/** False: no exit is reported. */
	reportsExits = true;
	/** Thrown by the next hand-overs. */
	refuses: Error | null = null;

	constructor(readonly machine = new FakeMachine()) {}

	async launch(launch: Launch): Promise<void> {
		if (this.refuses) throw this.refuses;
		this.machine.launched.push(launch);
		this.machine.pending.set(launch.run, launch);
		if (this.prompt) this.start(launch.run);
	}

	/** The launcher gets to it. */
	start(run: string, ignores: NodeJS.Signals[] = []): void {
		const launch = this.machine.pending.get(run);
		if (!launch) throw new Error(`run ${run} was not handed over`);
		this.machine.pending.delete(run);
		const program = this.machine.program(ignores);
		try {
			writeFileSync(`${launch.dir}/start`, `1 ${program.pid}\n`, { flag: "wx" });
		} catch {
			return;
		}
		this.machine.shims.set(launch.mark, program);
	}

	/** A process that the run started in a session of its own. `began`: epoch milliseconds. */
	child(mark: string, ignores: NodeJS.Signals[] = [], began = 0): Program {
		const child = { ...this.machine.program(ignores), began };
		this.machine.children.set(mark, [...(this.machine.children.get(mark) ?? []), child]);
		return child;
	}

	/** The program ends; its shim writes that down. */
	exit(run: string, code: number, launchFailed: string | null = null, missing?: "program" | "folder"): void {
		const launch = this.launchOf(run);
		this.machine.shims.delete(launch.mark);
		writeFileSync(`${launch.dir}/exit`, launchFailed === null ? `1 ${code}\n` : `1 ${missing ?? "launch"} ${code} ${launchFailed}\n`);
		this.reportExit(run);
	}

	/** Shim and program vanish without a word. */
	vanish(run: string): void {
		this.machine.shims.delete(this.launchOf(run).mark);
	}

	reboot(): void {
		for (const mark of this.machine.shims.keys()) this.machine.booted.add(mark);
		this.machine.shims.clear();
		this.machine.children.clear();
	}

	log(run: string, stream: "stdout" | "stderr", text: string): void {
		writeFileSync(`${this.launchOf(run).dir}/${stream}.log`, text, { flag: "a" });
	}

	onExit(call: (run: string) => void): void {
		this.call = call;
	}

	look(_run: string, dir: string): Sighting {
		if (!existsSync(`${dir}/start`)) return { state: "unstarted" };
		const exit = existsSync(`${dir}/exit`) ? readFileSync(`${dir}/exit`, "utf8") : "";
		const launch = /^1 (launch|program|folder) (\d+) (.*)\n$/.exec(exit);
		if (launch) {
			const missing = launch[1] === "launch" ? {} : { missing: launch[1] as "program" | "folder" };
			return { state: "exited", code: Number(launch[2]), signal: null, launch_failed: launch[3] as string, ...missing };
		}
		const plain = /^1 (\d+)\n$/.exec(exit);
		if (plain) {
			const code = Number(plain[1]);
			return { state: "exited", code, signal: code === 139 ? "SIGSEGV" : code === 137 ? "SIGKILL" : null, launch_failed: null };
		}
		const pid = Number(readFileSync(`${dir}/start`, "utf8").split(" ")[1]);
		const mark = [...this.machine.shims].find(([, program]) => program.pid === pid)?.[0];
		if (mark) return { state: "alive", pid, started: "now" };
		const gone = this.machine.launched.find((one) => one.dir === dir);
		return { state: "gone", reboot: gone !== undefined && this.machine.booted.has(gone.mark) };
	}

	begunSince(mark: string, at: number): boolean {
		return (this.machine.children.get(mark) ?? []).some(({ began = 0 }) => began >= at);
	}

	forbid(_run: string, dir: string): boolean {
		try {
			writeFileSync(`${dir}/start`, "1 0\n", { flag: "wx" });
			return true;
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
			throw error;
		}
	}

	signal(run: string, dir: string, signal: NodeJS.Signals): boolean {
		if (this.look(run, dir).state !== "alive") return false;
		this.hitShim(this.launchOf(run), signal);
		return true;
	}

	private hitShim({ run, dir, mark }: Launch, signal: NodeJS.Signals): void {
		const program = this.machine.shims.get(mark) as Program;
		this.machine.signals.push(`${run} ${signal}`);
		if (!this.hit(program, signal)) return;
		this.machine.shims.delete(mark);
		// A killed shim writes nothing, and one without its folder cannot.
		if (signal === "SIGKILL" || !existsSync(dir)) return;
		writeFileSync(`${dir}/exit`, `1 ${signal === "SIGINT" ? 130 : 143}\n`);
		this.reportExit(run);
	}

	sweep(marks: readonly string[]): Map<string, number[]> {
		return this.carriers((mark) => marks.includes(mark));
	}

	marked(prefix: string): Map<string, number[]> {
		return this.carriers((mark) => mark.startsWith(prefix));
	}

	/** Processes that the test has put above one another, by the pid of the lowest. */
	readonly lineages = new Map<number, Ancestor[]>();
	async lineage({ pid }: CallerProcess): Promise<Ancestor[]> {
		return this.lineages.get(pid) ?? [];
	}

	signalAll(mark: string, pids: readonly number[], signal: NodeJS.Signals): number {
		const all = this.machine.children.get(mark) ?? [];
		let count = 0;
		const shim = this.machine.shims.get(mark);
		if (shim && pids.includes(shim.pid)) {
			this.hitShim(this.machine.launched.findLast((one) => one.mark === mark) as Launch, signal);
			count++;
		}
		for (const child of all.filter((one) => pids.includes(one.pid))) {
			count++;
			this.machine.signals.push(`${mark}/${child.pid} ${signal}`);
			if (this.hit(child, signal))
				this.machine.children.set(
					mark,
					(this.machine.children.get(mark) ?? []).filter((one) => one !== child),
				);
		}
		return count;
	}

	async close(): Promise<void> {}

	/** True when it ends by this signal. */
	private hit(program: Program, signal: NodeJS.Signals): boolean {
		program.got.push(signal);
		if (signal === "SIGSTOP") program.stopped = true;
		else if (signal === "SIGCONT") program.stopped = false;
		const fatal = (one: NodeJS.Signals) => !["SIGSTOP", "SIGCONT"].includes(one) && !program.ignores.has(one);
		if (signal === "SIGKILL") return true;
		// What came while it was stopped is acted on when it goes on.
		return !program.stopped && (signal === "SIGCONT" ? program.got.some(fatal) : fatal(signal));
	}

	private carriers(wanted: (mark: string) => boolean): Map<string, number[]> {
		const found = new Map<string, number[]>();
		const add = (mark: string, program: Program) => {
			if (wanted(mark)) found.set(mark, [...(found.get(mark) ?? []), program.pid]);
		};
		for (const [mark, program] of this.machine.shims) add(mark, program);
		for (const [mark, programs] of this.machine.children) for (const program of programs) add(mark, program);
		return found;
	}

	private launchOf(run: string): Launch {
		const launch = this.machine.launched.findLast((one) => one.run === run);
		if (!launch) throw new Error(`run ${run} was not launched`);
		return launch;
	}

	private reportExit(run: string): void {
		if (this.reportsExits) this.call(run);
	}
}
