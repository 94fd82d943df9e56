// What the library's methods share.

import type { Clock, Host } from "../../contracts/host.ts";
import type { Config } from "../../core/config.ts";
import type { Core } from "../operations/core.ts";
import type { Waker } from "./waker.ts";

export type LibraryParts = {
	core: Core;
	clock: Clock;
	host: Host;
	hostName: string;
	config: () => Config;
	waker: Waker;
};
