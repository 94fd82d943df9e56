// Gate `held`: no person holds the job. Only `release` opens it; run-now and force do not.

import type { JobHold } from "../job.ts";
import { type ClockGate, pass, refuse } from "./gate.ts";

export const heldWords = ({ by, reason }: JobHold): string => `held by ${by}${reason === undefined ? "" : `: ${reason}`}`;

export const held: ClockGate = {
	name: "held",
	ask({ id, hold }) {
		if (hold === undefined) return pass;
		const { by, since } = hold;
		return { reasons: [refuse("held", "held", `job:${id}`, heldWords(hold), { since, holder: [by] })], parked_on: "held" };
	},
};
