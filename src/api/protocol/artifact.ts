// The methods of artifacts.

import type { ArtifactView } from "../../contracts/scheduler.ts";
import type { Doc, Timed } from "../documents.ts";
import { flag, maybe, operatorMethod, text, viewerMethod } from "../fields.ts";

export type ArtifactDocument = Timed<ArtifactView, "observed_at">;

export const ARTIFACT_METHODS = {
	"artifact.list": viewerMethod<Doc<{ artifacts: ArtifactDocument[] }>>()({
		about: "Artifacts that are known, as they were last seen.",
		params: {},
		result: "{artifacts: [{artifact, repo, present, observed_at, error}]}",
	}),
	"artifact.set": operatorMethod<Doc<{ artifact: string; present: boolean }>>()({
		about: "Sets or removes a marker: `custom:<type>:<key>` or `sentinel:<slug>`. Jobs that need it are decided again.",
		params: { artifact: text("the marker", 1000, "one"), absent: maybe(flag("remove it")) },
		result: "{artifact, present}",
	}),
	"artifact.mark": operatorMethod<Doc<{ artifact: string; present: boolean }>>()({
		about: "Sets or removes a marker: `custom:<type>:<key>`, `sentinel:<slug>`.",
		params: { artifact: text("the marker", 1000, "one"), absent: maybe(flag("remove it")) },
		result: "{artifact, present}",
	}),
} as const;
