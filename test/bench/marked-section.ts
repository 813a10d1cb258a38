import { readFileSync, writeFileSync } from "node:fs";

/**
 * Reads what a program put into a page: see {@link writeMarkedSection}.
 *
 * @throws Error where the page has no such place.
 */
export function readMarkedSection(page: string, name: string): string {
  const text = placeOf(name).exec(readFileSync(fileOf(page), "utf8"))?.groups?.["text"];
  if (text === undefined) throw new Error(`${page} has no place for ${name}.`);
  return text.trim();
}

/**
 * Puts a program's output into a page: between the comments that begin with `begin NAME` and `end NAME`.
 *
 * @param page - From the root of the repository.
 * @throws Error where the page has no such place.
 */
export function writeMarkedSection(page: string, name: string, text: string): void {
  const document = fileOf(page);
  const place = placeOf(name);
  const before = readFileSync(document, "utf8");
  if (!place.test(before)) throw new Error(`${page} has no place for ${name}.`);
  writeFileSync(
    document,
    before.replace(place, (_, begin: string, _text: string, end: string) => `${begin}\n${text}\n\n${end}`),
  );
}

function fileOf(page: string): URL {
  return new URL(`../../${page}`, import.meta.url);
}

function placeOf(name: string): RegExp {
  return new RegExp(`(<!-- begin ${name}[^\\n]*-->\\n)(?<text>[^]*?)(<!-- end ${name} -->)`);
}
