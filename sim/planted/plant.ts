// Puts planted bugs into the text of a built engine, by its syntax tree: only names of functions are looked for, never how their bodies are written.
//
//   everywhere   function f(a) {…}   →   function f$right(a) {…} function f(...args) { return globalThis.plantedBug("place", f$right)(...args) }
//   within g     f(a) in g's body    →   globalThis.plantedBug("place", f)(a)
//
// `plantedBug` (hunt.ts) gives the right function back, unless the bug of that place is switched on: so all bugs are in one engine, and one at a time is on.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseAst } from "vitest/node";
import { type Bug, type Named, nameIn, placeOf } from "./bug.ts";

/** A node of the tree as every ESTree parser gives it. */
type Node = { type: string; start: number; end: number; [field: string]: unknown };
type Edit = { start: number; end: number; text: string };
/** A function of a module: its node, and what it is the value of. */
type Found = { node: Node; as: "declaration" | "constant" | "member of a class" | "member of an object"; statement: Node };

/** Code that gives the function to be called at a place. */
const planted = (place: string, right: string) => `globalThis.plantedBug(${JSON.stringify(place)}, ${right})`;

/** The built files of the engine, by their path below `folder`. */
export type Engine = { folder: string; texts: ReadonlyMap<string, string> };

/**
 * `parts`: the folders below `folder` that count. `sources`: the folder it was built from; what was built from a source that has been moved since stays in
 * `folder`, and is not of the engine.
 */
export function readEngine(folder: string, sources?: string, parts: readonly string[] = ["."]): Engine {
	const isBuilt = (path: string) => sources === undefined || existsSync(join(sources, `${path.slice(0, -3)}.ts`));
	const paths = parts
		.flatMap((part) => readdirSync(join(folder, part), { recursive: true, encoding: "utf8" }).map((path) => join(part, path)))
		.filter((path) => path.endsWith(".js") && !path.endsWith(".test.js") && isBuilt(path));
	return { folder, texts: new Map(paths.map((path) => [path, readFileSync(join(folder, path), "utf8")])) };
}

/** `texts`: the files that change. `places`: where each bug is, by its name. `faults`: a line for each bug that does not find its function. */
export type Planted = { texts: Map<string, string>; places: Map<string, string>; faults: string[] };

/** All bugs at once. `rewrite`: gives a text as another compiler would have written it. */
export async function plant(bugs: readonly Bug[], engine: Engine, rewrite = (text: string) => text): Promise<Planted> {
	const result: Planted = { texts: new Map(), places: new Map(), faults: [] };
	// Calls within a function first: a function that is wrong everywhere has another name afterwards.
	for (const bug of [...bugs].sort((a, b) => Number(b.within !== undefined) - Number(a.within !== undefined)))
		try {
			const path = await moduleOf(bug.within ?? bug.of, engine);
			const place = `${path}: ${placeOf(bug)}`;
			if (![...result.places.values()].includes(place))
				result.texts.set(path, plantOne(result.texts.get(path) ?? rewrite(engine.texts.get(path) as string), path, bug, place));
			result.places.set(bug.name, place);
		} catch (error) {
			result.faults.push(`${bug.name}: ${(error as Error).message}`);
		}
	return result;
}

function plantOne(text: string, path: string, bug: Bug, place: string): string {
	const where = bug.within ?? bug.of;
	const found = functionIn(parse(text), where);
	if (!found) throw new Error(`${path} has no function ${nameIn(where)}`);
	const edits = bug.within ? callsIn(found.node, bug.of.function, text, place) : [everyCall(found, where.function, text, place)];
	if (edits.length === 0) throw new Error(`${nameIn(where)} (${path}) never calls ${nameIn(bug.of)}`);
	const wrong = edited(text, edits);
	parse(wrong);
	return wrong;
}

const parse = (text: string) => parseAst(text) as unknown as Node;

/** The module that declares a function. Of several that export the same name it is the one whose export it is. */
async function moduleOf(target: Named<unknown>, engine: Engine): Promise<string> {
	const { folder, texts } = engine;
	const { exported, beside } = target;
	const name = exported?.name ?? target.function;
	const word = new RegExp(`(?<![\\w$.])${name.replaceAll("$", "\\$")}(?![\\w$])`);
	const own = beside && (await moduleOf(beside, engine));
	const among = own === undefined ? [...texts] : [[own, texts.get(own) as string] as const];
	let paths = among.filter(([, text]) => word.test(text) && functionIn(parse(text), target)).map(([path]) => path);
	if (paths.length > 1 && exported) {
		const exporting: string[] = [];
		for (const path of paths) {
			const text = texts.get(path) as string;
			if (!new RegExp(`export[^;]*?${word.source}`).test(text)) continue;
			const module = (await import(pathToFileURL(join(folder, path)).href)) as Record<string, unknown>;
			if (module[name] === exported.value) exporting.push(path);
		}
		paths = exporting;
	}
	if (paths.length === 1) return paths[0] as string;
	throw new Error(
		paths.length === 0
			? `${own ?? "no module of the engine"} has ${own === undefined ? "a" : "no"} function ${nameIn(target)}`
			: `several modules have a function ${nameIn(target)}: ${paths.join(", ")}; say which: hidden("${name}", { beside: … })`,
	);
}

function functionIn(program: Node, { function: name, exported }: Named<unknown>): Found | undefined {
	const owner = exported && exported.name !== name ? exported.name : undefined;
	for (const statement of program.body as Node[]) {
		const declared = ((statement.type === "ExportNamedDeclaration" ? statement.declaration : null) ?? statement) as Node;
		if (owner === undefined && declared.type === "FunctionDeclaration" && nameOf(declared.id) === name)
			return { node: declared, as: "declaration", statement };
		if (owner !== undefined && declared.type === "ClassDeclaration" && nameOf(declared.id) === owner)
			return memberOf((declared.body as Node).body as Node[], name, "member of a class", statement);
		if (declared.type !== "VariableDeclaration") continue;
		for (const { id, init } of declared.declarations as { id: Node; init: Node | null }[]) {
			if (!init || nameOf(id) !== (owner ?? name)) continue;
			if (owner === undefined && isFunction(init)) return { node: init, as: "constant", statement };
			if (owner !== undefined && init.type === "ClassExpression")
				return memberOf((init.body as Node).body as Node[], name, "member of a class", statement);
			if (owner !== undefined && init.type === "ObjectExpression")
				return memberOf(init.properties as Node[], name, "member of an object", statement);
		}
	}
	return undefined;
}

function memberOf(members: Node[], name: string, as: Found["as"], statement: Node): Found | undefined {
	const node = members.find((one) => !one.computed && nameOf(one.key) === name && isFunction(one.value));
	return node && { node, as, statement };
}

const nameOf = (node: unknown): string | undefined => (node as Partial<{ name: string }> | null)?.name;
const isFunction = (node: unknown) => ["FunctionExpression", "ArrowFunctionExpression"].includes((node as Node | null)?.type ?? "");

/** The function's name now calls what is planted at the place. */
function everyCall({ node, as, statement }: Found, name: string, text: string, place: string): Edit {
	const { start, end } = node;
	if (as === "constant")
		return { start, end, text: `((right) => (...args) => ${planted(place, "right")}(...args))(${text.slice(start, end)})` };
	const key = (as === "declaration" ? node.id : node.key) as Node;
	const renamed = `${text.slice(start, key.start)}${name}$right${text.slice(key.end, end)}`;
	if (as !== "declaration") {
		const method = `${name}(...args) { return ${planted(place, `(...all) => this.${name}$right(...all)`)}(...args); }`;
		return { start, end, text: `${method}${as === "member of an object" ? "," : ""} ${renamed}` };
	}
	const exported = statement === node ? "" : "export ";
	const wrapper = `${exported}function ${name}(...args) { return ${planted(place, `${name}$right`)}(...args); }`;
	return { start: statement.start, end: statement.end, text: `${renamed}\n${wrapper}` };
}

/** Every place in a function where it calls another one, or hands it on to be called. */
function callsIn(caller: Node, name: string, text: string, place: string): Edit[] {
	const edits: Edit[] = [];
	const replace = ({ start, end }: Node, right: string) => edits.push({ start, end, text: planted(place, right) });
	const visit = (value: unknown): void => {
		if (Array.isArray(value)) for (const one of value) visit(one);
		if (typeof (value as Node | null)?.type !== "string") return;
		const node = value as Node;
		if (node.type === "CallExpression") {
			const callee = node.callee as Node;
			const source = text.slice(callee.start, callee.end);
			if (nameOf(callee) === name) replace(callee, source);
			else if (callee.type === "MemberExpression" && !callee.computed && nameOf(callee.property) === name)
				replace(callee, `(...args) => ${source}(...args)`);
			for (const given of node.arguments as Node[]) if (nameOf(given) === name) replace(given, name);
		}
		for (const [field, inner] of Object.entries(node)) if (field !== "type") visit(inner);
	};
	visit(caller);
	return edits;
}

function edited(text: string, edits: readonly Edit[]): string {
	let rest = text;
	for (const { start, end, text: better } of [...edits].sort((a, b) => b.start - a.start))
		rest = rest.slice(0, start) + better + rest.slice(end);
	return rest;
}
