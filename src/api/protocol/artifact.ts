// The methods of artifacts.

import type { ArtifactView } from "../../contracts/scheduler.ts";
import type { Doc, Timed } from "../documents.ts";
import { flag, maybe, method, text } from "../fields.ts";

export type ArtifactDocument = Timed<ArtifactView, "observed_at">;

export const ARTIFACT_METHODS = {
	"artifact.list": method<Doc<{ artifacts: ArtifactDocument[] }>>()({
		role: "viewer",
		about: "Artifacts that are known, as they were last seen.",
		params: {},
		result: "{artifacts: [{artifact, repo, present, observed_at, error}]}",
	}),
	"artifact.set": method<Doc<{ artifact: string; present: boolean }>>()({
		role: "operator",
		about: "Sets or removes a marker: `custom:<type>:<key>` or `sentinel:<slug>`. Jobs that need it are decided again.",
		params: { artifact: text("the marker", 1000, "one"), absent: maybe(flag("remove it")) },
		result: "{artifact, present}",
	}),
	"artifact.mark": method<Doc<{ artifact: string; present: boolean }>>()({
		role: "operator",
		about: "Sets or removes a marker: `custom:<type>:<key>`, `sentinel:<slug>`.",
		params: { artifact: text("the marker", 1000, "one"), absent: maybe(flag("remove it")) },
		result: "{artifact, present}",
	}),
} as const;
