// A prepared statement's short way through the client library: what that does anew for every query (a copy of its parts, a description of its
// columns) is done once for each statement.

import { executeMessage } from "./wire.ts";

export type Result = { rows: unknown[][]; command: string };
type Parser = (text: string) => unknown;
/** One of a connection's. `parsers`: of its columns, known once it has been answered. */
export type Statement = { name: string; text: string; parsers?: readonly Parser[] };
type Types = { getTypeParser(type: number): Parser };

/** What the library's connection offers to its queries. */
type Wire = {
	parsedStatements: Record<string, string>;
	submittedNamedStatements: Record<string, string>;
	parse(statement: { name: string; text: string }): void;
	stream: { writable: boolean; write(message: Buffer): unknown };
};

/** In the place of the library's own Query, which it has to be an instance of: see `likeQuery`. */
class Prepared {
	readonly name: string;
	readonly text: string;
	private readonly found: unknown[][] = [];
	private tag = "";

	constructor(
		private readonly statement: Statement,
		private readonly values: readonly unknown[],
		private readonly types: Types,
		public callback: (error: Error | null, result?: Result) => void,
	) {
		this.name = statement.name;
		this.text = statement.text;
	}

	submit(wire: Wire): null {
		const { name, text } = this;
		if (wire.parsedStatements[name] === undefined && wire.submittedNamedStatements[name] === undefined) {
			wire.parse({ name, text });
			wire.submittedNamedStatements[name] = text;
		}
		const message = executeMessage(name, this.values, !this.statement.parsers);
		// Where it is not, the connection is about to tell.
		if (wire.stream.writable) wire.stream.write(message);
		return null;
	}

	handleRowDescription({ fields }: { fields: readonly { dataTypeID: number }[] }): void {
		this.statement.parsers ??= fields.map(({ dataTypeID }) => this.types.getTypeParser(dataTypeID));
	}

	handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
		const { parsers = [] } = this.statement;
		this.found.push(fields.map((text, column) => (text === null ? null : (parsers[column] as Parser)(text))));
	}

	handleCommandComplete({ text }: { text: string }): void {
		this.tag = text;
		this.statement.parsers ??= [];
	}

	handleReadyForQuery(): void {
		const space = this.tag.indexOf(" ");
		this.callback(null, { rows: this.found, command: space < 0 ? this.tag : this.tag.slice(0, space) });
	}

	handleError(error: Error): void {
		this.callback(error);
	}

	handleEmptyQuery(): void {}
	handlePortalSuspended(): void {}
	handleCopyInResponse(): void {}
	handleCopyData(): void {}
}

/** The library pipelines only its own kind. */
export function likeQuery(Query: { prototype: object }): void {
	if (Object.getPrototypeOf(Prepared.prototype) !== Query.prototype) Object.setPrototypeOf(Prepared.prototype, Query.prototype);
}

export function prepared(
	client: { query(query: object): unknown },
	statement: Statement,
	values: readonly unknown[],
	types: Types,
): Promise<Result> {
	return new Promise((resolve, reject) => {
		client.query(new Prepared(statement, values, types, (error, result) => (error ? reject(error) : resolve(result as Result))));
	});
}
