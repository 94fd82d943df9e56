// Whose daemon this is.

import { userInfo } from "node:os";

export function userName(env: Record<string, string | undefined>): string {
	try {
		return userInfo().username;
	} catch {
		return env.USER ?? "owner";
	}
}
