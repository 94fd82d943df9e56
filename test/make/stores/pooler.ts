// A pooler with transaction pooling, as far as tests need one: between two transactions a client never keeps its server connection, and gets the one
// that was not used for longest. Whatever relies on the state of a session falls flat.

import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export type Pooler = { port: number /** How often a client got another connection than before. */; switched(): number; close(): void };

type Backend = { socket: Socket; client: Client | null; greeting: Buffer };
type Client = { socket: Socket; backend: Backend | null; last: Backend | null; unanswered: number; waiting: Buffer[] };

const READY = "Z".charCodeAt(0);
const IDLE = "I".charCodeAt(0);
/** Those that the server answers with ReadyForQuery: a simple query, and Sync. */
const ASKS = new Set(["Q".charCodeAt(0), "S".charCodeAt(0)]);
const KEY = "K".charCodeAt(0);
const ENDS = "X".charCodeAt(0);

/** Messages as they become whole: a type, a length, a body. */
function framed(take: (message: Buffer) => void): (piece: Buffer) => void {
	let rest = Buffer.alloc(0);
	return (piece) => {
		rest = Buffer.concat([rest, piece]);
		while (rest.length >= 5 && rest.length >= 1 + rest.readUInt32BE(1)) {
			const size = 1 + rest.readUInt32BE(1);
			take(rest.subarray(0, size));
			rest = rest.subarray(size);
		}
	};
}

export async function openPooler(
	port: number,
	{ size = 5, user = "sluice", database = "postgres", tells = "its own" as "its own" | "the server's" } = {},
): Promise<Pooler> {
	let switched = 0;
	let told = 0;
	let closed = false;
	const queue: Client[] = [];
	const backends: Backend[] = [];
	const idle: Backend[] = [];
	for (let index = 0; index < size; index++) backends.push(await openBackend());
	idle.push(...backends);

	function openBackend(): Promise<Backend> {
		const socket = connect({ port, host: "127.0.0.1", noDelay: true });
		const backend: Backend = { socket, client: null, greeting: Buffer.alloc(0) };
		return new Promise((resolve, reject) => {
			socket.on("error", reject);
			let ready = false;
			socket.on("connect", () => {
				const body = Buffer.from(`user\0${user}\0database\0${database}\0\0`);
				const head = Buffer.alloc(8);
				head.writeUInt32BE(8 + body.length, 0);
				head.writeUInt32BE(196_608, 4);
				socket.write(Buffer.concat([head, body]));
			});
			socket.on(
				"data",
				framed((message) => {
					if (ready) return fromServer(backend, message);
					// The process that it tells is made up, as poolers do: what a client would cancel is looked up by it.
					if (message[0] === KEY && tells === "its own") message.writeUInt32BE(4_000_000 + ++told, 5);
					backend.greeting = Buffer.concat([backend.greeting, message]);
					if (message[0] === READY) {
						ready = true;
						resolve(backend);
					}
				}),
			);
		});
	}

	function replace(broken: Backend): void {
		broken.socket.destroy();
		broken.client = null;
		backends.splice(backends.indexOf(broken), 1);
		void openBackend().then(
			(backend) => {
				backends.push(backend);
				if (closed) return void backend.socket.destroy();
				idle.push(backend);
				serveNext();
			},
			() => {},
		);
	}

	function fromServer(backend: Backend, message: Buffer): void {
		const { client } = backend;
		// A notice for nobody: whoever listened here has gone on to another connection.
		if (!client) return;
		client.socket.write(message);
		if (message[0] !== READY || --client.unanswered > 0 || message[5] !== IDLE) return;
		release(client);
	}

	function release(client: Client): void {
		const { backend } = client;
		if (!backend) return;
		client.backend = null;
		backend.client = null;
		idle.push(backend);
		serveNext();
	}

	function serveNext(): void {
		while (queue.length > 0 && idle.length > 0) {
			const client = queue.shift() as Client;
			// Another one than before, if there is any.
			const at = Math.max(
				0,
				idle.findIndex((one) => one !== client.last),
			);
			const [backend] = idle.splice(at, 1) as [Backend];
			if (client.last && client.last !== backend) switched++;
			client.backend = backend;
			client.last = backend;
			backend.client = client;
			for (const message of client.waiting.splice(0)) backend.socket.write(message);
		}
	}

	const sockets = new Set<Socket>();
	const server = createServer({ noDelay: true }, (socket) => {
		sockets.add(socket);
		const client: Client = { socket, backend: null, last: null, unanswered: 0, waiting: [] };
		socket.on("error", () => {});
		socket.on("close", () => {
			sockets.delete(socket);
			// In the middle of a transaction: the server rolls back with its connection, as it would without us.
			if (client.backend) replace(client.backend);
		});
		const take = framed((message) => {
			if (message[0] === ENDS) return void socket.end();
			if (ASKS.has(message[0] as number)) client.unanswered++;
			if (client.backend) return void client.backend.socket.write(message);
			client.waiting.push(message);
			if (!queue.includes(client)) queue.push(client);
			serveNext();
		});
		// The first message has no type: it says who comes, and everybody is let in.
		socket.once("data", (hello) => {
			socket.on("data", take);
			socket.write((backends[0] as Backend).greeting);
			const length = hello.readUInt32BE(0);
			if (hello.length > length) take(hello.subarray(length));
		});
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	return {
		port: (server.address() as AddressInfo).port,
		switched: () => switched,
		close() {
			closed = true;
			for (const socket of sockets) socket.destroy();
			for (const { socket } of backends) socket.destroy();
			server.close();
		},
	};
}
