// Hosts: each is in the state that the model has it in, and what became of them was told in events.

import { hostDifference, toldDifference } from "../compare-hosts.ts";
import { type Checker, must } from "./moment.ts";

export const hosts: Checker = {
	name: "hosts",
	async check({ state, scheduler, events }) {
		const different = state.fleet ? (hostDifference(state, await scheduler.hosts()) ?? toldDifference(state, events)) : null;
		state.told = [];
		must(different === null, different ?? "");
	},
};
