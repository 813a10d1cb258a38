import { readFileSync } from "node:fs";
import type { LoadedSettings } from "./load-settings.ts";
import { accessOf, writableHint } from "./secret-file.ts";
import { SettingError, type Settings } from "./setting.ts";
import { storeSettings } from "./store-settings.ts";

/** Takes the URL of the store from the file of `--store-file`, where one is given. Never throws. */
export function withStoreFile<S extends Settings>(loaded: LoadedSettings<S>): LoadedSettings<S> {
  const { storeFile: path, storeUrl } = loaded.values as { readonly storeFile?: string; readonly storeUrl?: string };
  if (path === undefined) return loaded;
  const refused = (hint: string): LoadedSettings<S> => {
    const place = (loaded.places as Readonly<Record<string, string>>)["storeFile"]!;
    return { ...loaded, problems: [...loaded.problems, { place, value: path, hint }] };
  };
  if (storeUrl !== undefined) return refused("Give it or --store, not both.");
  try {
    if (accessOf(path).othersWrite) return refused(writableHint);
    const url = storeSettings.storeUrl.parse(readFileSync(path, "utf8").trim());
    return { ...loaded, values: { ...loaded.values, storeUrl: url }, places: { ...loaded.places, storeUrl: path } };
  } catch (error) {
    // Never the content of the file: it may hold a password.
    if (error instanceof SettingError) return refused(`Its content is not the URL of a store: write ${error.message}.`);
    return refused(`Name a file that can be read: ${(error as NodeJS.ErrnoException).code ?? "it is not a file"}.`);
  }
}
