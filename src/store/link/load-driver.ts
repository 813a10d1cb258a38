import { IdError } from "../../errors.ts";

/**
 * Loads the library of a store on first use. Such libraries are optional peer dependencies, so that an installation has
 * only those that it uses.
 *
 * @throws IdError INVALID_CONFIG with the command that installs it.
 */
export async function loadDriver<T>(kind: string, packageName: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    const message = `The ${kind} store needs the package ${packageName}. Install it beside snowlane: npm install ${packageName}`;
    throw new IdError("INVALID_CONFIG", message, { metadata: { store: kind, package: packageName }, cause });
  }
}
