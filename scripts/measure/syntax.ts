// What the syntax tree of a source tells: the lines of its functions, its casts, the types that it exports.

import { type Node, visitorKeys } from "oxc-parser";
import type { Source } from "./tree.ts";

type Parents = readonly Node[];

/** Every node, with the nodes that it is in, the nearest last. */
function* nodesOf(source: Source): Generator<{ node: Node; parents: Parents }> {
	yield* below(source.tree.program as Node, []);
}

function* below(node: Node, parents: Parents): Generator<{ node: Node; parents: Parents }> {
	yield { node, parents };
	const inner = [...parents, node];
	for (const key of visitorKeys[node.type] ?? []) {
		const value = (node as unknown as Record<string, unknown>)[key];
		for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* below(child, inner);
	}
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value;

export type FunctionSize = { path: string; name: string; lines: number };

/** Every function that has a body, from its first line to its last; what is nested in it counts as well. */
export function functionsOf(source: Source): FunctionSize[] {
	const found: FunctionSize[] = [];
	for (const { node, parents } of nodesOf(source)) {
		if (node.type !== "FunctionDeclaration" && node.type !== "FunctionExpression" && node.type !== "ArrowFunctionExpression") continue;
		if (!node.body) continue;
		const lines = source.lineAt(node.end - 1) - source.lineAt(node.start) + 1;
		found.push({ path: source.path, name: nameOf(node, parents), lines });
	}
	return found;
}

/** `run`, or `createLog > write` for a function in a function; `then(…)` for one that is given to a call. */
function nameOf(node: Node, parents: Parents): string {
	const outer = parents.flatMap((parent, index) => ownName(parent, parents[index - 1]) ?? []);
	const own = ownName(node, parents.at(-1)) ?? "function";
	return [...outer, own].join(" > ");
}

function ownName(node: Node, parent: Node | undefined): string | null {
	if (node.type === "ClassDeclaration") return node.id?.name ?? null;
	if (node.type !== "FunctionDeclaration" && node.type !== "FunctionExpression" && node.type !== "ArrowFunctionExpression") return null;
	if (node.id) return node.id.name;
	if (parent?.type === "VariableDeclarator" && parent.id.type === "Identifier") return parent.id.name;
	if (parent?.type === "Property" || parent?.type === "MethodDefinition" || parent?.type === "PropertyDefinition") {
		return "name" in parent.key ? String(parent.key.name) : "computed";
	}
	if (parent?.type === "CallExpression") {
		const { callee } = parent;
		if (callee.type === "Identifier") return `${callee.name}(…)`;
		if (callee.type === "MemberExpression" && "name" in callee.property) return `${callee.property.name}(…)`;
	}
	return "function";
}

/** `x as T`, but for `as const`. */
export function castsOf(source: Source): number {
	let count = 0;
	for (const { node } of nodesOf(source)) {
		if (node.type !== "TSAsExpression") continue;
		const { typeAnnotation: to } = node;
		const isConst = to.type === "TSTypeReference" && to.typeName.type === "Identifier" && to.typeName.name === "const";
		if (!isConst) count++;
	}
	return count;
}

/** Names of the types, interfaces and classes that a source declares and exports. */
export function exportedTypesOf({ tree }: Source): string[] {
	return tree.program.body.flatMap((statement) => {
		if (statement.type !== "ExportNamedDeclaration" || !statement.declaration) return [];
		const { declaration } = statement;
		const isType =
			declaration.type === "TSTypeAliasDeclaration" ||
			declaration.type === "TSInterfaceDeclaration" ||
			declaration.type === "ClassDeclaration" ||
			declaration.type === "TSEnumDeclaration";
		return isType && declaration.id ? [declaration.id.name] : [];
	});
}
