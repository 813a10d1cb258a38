import { mkdtempSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { refuseProblems } from "../../src/config/load-settings.ts";
import { makeFolder } from "../../src/store/make-folder.ts";

/**
 * Makes the folder that `--to` names, before anything is built for it.
 *
 * @throws IdError INVALID_CONFIG where it cannot be made, or nothing can be written into it.
 */
export function makeTargetFolder(path: string): void {
  try {
    makeFolder(path);
    rmdirSync(mkdtempSync(join(path, ".try-")));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    refuseProblems([
      {
        place: "--to",
        value: path,
        hint: `The system makes no folder there (${code}): name one that you may write to.`,
      },
    ]);
  }
}
