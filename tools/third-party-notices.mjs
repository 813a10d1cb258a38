/**
 * The notices of the packages whose code is in a bundle, as their licences ask: taken from what was really bundled, so
 * that a package that comes or goes changes them. A list of the licences alone would leave out the copyright lines,
 * and @bufbuild/protobuf has a second licence in the head of one file.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const licenceFile = /^(licen[cs]e|notice|copying)(\.|$)/i;

/** Copyright lines of packages that bring no text of their licence, which is MIT: from repository or README. */
const copyrights = {
  "@redis/client": "Copyright (c) 2022-2025, Redis, inc.",
  "pg-types": "Copyright (c) 2014 Brian M. Carlson",
  pgpass: "Copyright (c) 2013-2016 Hannes Hörl",
};

const mit = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

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
    if (texts.length === 0 && license === "MIT" && name in copyrights) texts.push(`${copyrights[name]}\n\n${mit}`);
    if (texts.length === 0) throw new Error(`${name} is bundled and brings no licence text: find its notice first`);
    const source = repository?.url ?? repository ?? "";
    return { name, text: `${name} ${version}\n${license}\n${source}\n\n${texts.join("\n\n")}\n` };
  });
  const sorted = notices.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(({ text }) => text);
  const start =
    "Snowlane contains code of the packages below. The Apache License, Version 2.0, is in the file LICENSE.\n";
  return [start, ...sorted].join(`\n${"-".repeat(100)}\n\n`);
}
