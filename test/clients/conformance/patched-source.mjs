/**
 * Preloaded by `--import`: loads another text in place of one source. SNOWLANE_PATCHED is the end of its path, and
 * SNOWLANE_PATCHED_TEXT a file with the text.
 */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";

const { SNOWLANE_PATCHED: path = "", SNOWLANE_PATCHED_TEXT: text = "" } = process.env;

registerHooks({
  load: (url, context, nextLoad) =>
    url.endsWith(`/${path}`)
      ? { format: "module-typescript", source: readFileSync(text, "utf8"), shortCircuit: true }
      : nextLoad(url, context),
});
