// The settings of a source, for tests: as a configuration leaves them that names only its kind and folder.

import type { SourceSettings } from "../../../src/contracts/source.ts";
import { SOURCE_DEFAULT } from "../../../src/core/schema/source.ts";

export const makeSourceSettings = (more: Pick<SourceSettings, "kind" | "root"> & Partial<SourceSettings>): SourceSettings => ({
	...SOURCE_DEFAULT,
	...more,
});
