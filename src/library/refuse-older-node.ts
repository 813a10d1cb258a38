/**
 * Ends the import of the library under a Node that is too old, in a sentence that names the one to install. It is the
 * first module that runs (tools/bundle-parts.mjs), because the others need what an older Node does not have.
 */
import { nodeTooOld } from "../node-version.ts";

const tooOld = nodeTooOld(process.versions.node);
if (tooOld !== undefined) throw new TypeError(tooOld);
