/**
 * The notices of the packages whose code is in a bundle, as their licences ask: taken from what was really bundled, so
 * that a package that comes or goes changes them. A list of the licences alone would leave out the copyright lines,
 * and @bufbuild/protobuf has a second licence in the head of one file.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const licenceFile = /^(licen[cs]e|notice|copying)(\.|$)/i;

/** @param path - of a module, such as /home/me/node_modules/@scope/name/dist/a.js. Null for a module that is ours. */
function packageFolder(path) {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? null;
}

/** The comment at the head of a module where it names a copyright, without the slashes. */
function headOf(path) {
  const [head = ""] = /^(?:\/\/[^\n]*\n)+/.exec(readFileSync(path, "utf8")) ?? [];
  return /copyright/i.test(head) ? head.replaceAll(/^\/\/ ?/gm, "").trim() : null;
}

/**
 * @param modules - the paths of every module in the bundle.
 * @returns the text of the file: for each package its name, version and licence, and the licence files that it brings,
 *   or where it brings none the notices at the heads of its modules.
 * @throws Error for a package that brings neither.
 */
export function thirdPartyNotices(modules) {
  const packages = new Map();
  for (const path of modules) {
    const folder = packageFolder(path);
    if (folder === null) continue;
    packages.set(folder, [...(packages.get(folder) ?? []), path]);
  }
  const notices = [...packages].map(([folder, paths]) => {
    const { name, version, license, repository } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const files = readdirSync(folder).filter((file) => licenceFile.test(file));
    const texts = files.map((file) => readFileSync(join(folder, file), "utf8").trim());
    if (texts.length === 0) texts.push(...new Set(paths.filter(existsSync).map(headOf).filter(Boolean).toSorted()));
    if (texts.length === 0) throw new Error(`${name} is bundled and brings no licence text: find its notice first`);
    const source = repository?.url ?? repository ?? "";
    return { name, text: `${name} ${version}\n${license}\n${source}\n\n${texts.join("\n\n")}\n` };
  });
  const sorted = notices.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(({ text }) => text);
  const start =
    "Snowlane contains code of the packages below. The Apache License, Version 2.0, is in the file LICENSE.\n";
  return [start, ...sorted].join(`\n${"-".repeat(100)}\n\n`);
}
