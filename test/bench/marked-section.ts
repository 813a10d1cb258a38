import { readFileSync, writeFileSync } from "node:fs";

/**
 * Puts a program's output into a page: between the comments that begin with `begin NAME` and `end NAME`.
 *
 * @param page - From the root of the repository.
 * @throws Error where the page has no such place.
 */
export function writeMarkedSection(page: string, name: string, text: string): void {
  const document = new URL(`../../${page}`, import.meta.url);
  const place = new RegExp(`(<!-- begin ${name}[^\\n]*-->\\n)[^]*?(<!-- end ${name} -->)`);
  const before = readFileSync(document, "utf8");
  if (!place.test(before)) throw new Error(`${page} has no place for ${name}.`);
  writeFileSync(
    document,
    before.replace(place, (_, begin: string, end: string) => `${begin}\n${text}\n\n${end}`),
  );
}
