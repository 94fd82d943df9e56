// What the protocol's files declare methods with. Parameters are fields of core/schema/field.ts: params.ts checks them, the reference prints them.

import type { Fields, GivenType } from "../core/schema/field.ts";

export {
	choice,
	choices,
	decimal,
	duration,
	type Fields,
	field,
	flag,
	id,
	ids,
	json,
	label,
	maybe,
	object,
	orNull,
	type Ref,
	shape,
	text,
	time,
	whole,
	word,
	words,
} from "../core/schema/field.ts";

/** The type of a whole parameter object. */
type ParamsOf<F> = { [K in keyof F as F[K] extends { needed: true } ? K : never]: GivenType<F[K]> } & {
	[K in keyof F as F[K] extends { needed: true } ? never : K]?: GivenType<F[K]> | undefined;
};

/**
 * The least role that a caller must have. Each may do everything that the roles before it may:
 *   viewer    reads
 *   run       reads and adds: a run of ours, with the token in its environment
 *   operator  acts on jobs: adds, cancels, approves, pauses
 *   admin     everything: also settings, trust, people, the daemon itself
 */
export const ROLES = ["viewer", "run", "operator", "admin"] as const;
export type Role = (typeof ROLES)[number];

export const isAtLeast = (role: Role, least: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(least);

/** Where parameters are checked: `strict` here, completely; the other kinds also accept parameters that the scheduler itself checks. */
export type Check = "strict" | "job" | "ending" | "kernel";

export type Method = {
	readonly role: Role;
	/** The least role for a call that acts, where a call that only reads takes less: the handler tells the two apart by the parameters. */
	readonly acts?: Role;
	/** What the method does, in one line. */
	readonly about: string;
	readonly params: Fields;
	/** The result, as the reference prints it; `schema_version` comes first in each, except in the kernel's. */
	readonly result: string;
	readonly check: Check;
};
type Typed<P, R> = Method & { readonly of?: { params: P; result: R } };

type Sketch<F extends Fields> = { about: string; params: F; result: string; acts?: Role };

/** A method for this role whose parameters are exactly its fields. */
const methodFor =
	(role: Role) =>
	<R>() =>
	<const F extends Fields>(sketch: Sketch<F>): Typed<ParamsOf<F>, R> => ({ ...sketch, role, check: "strict" });
export const viewerMethod = methodFor("viewer");
export const runMethod = methodFor("run");
export const operatorMethod = methodFor("operator");
export const adminMethod = methodFor("admin");

/** A method that accepts more than its fields; `P` is the type of all parameters. */
export const openMethod =
	<P, R>(check: Exclude<Check, "strict">) =>
	(sketch: Sketch<Fields> & { role: Role }): Typed<P, R> => ({ ...sketch, check });
