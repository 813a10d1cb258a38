/**
 * Writes the address of the repository, which package.json names as `repository`, into every other place that has it:
 * packages, chart, image, program and pages. Until somebody has a public address, it is that of {@link placeholder}.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ownerPlaceholder } from "../src/version.ts";
import { writeChanged } from "./write-changed.ts";

/** The address as long as there is none: a release of it is refused. */
export const placeholder = `https://github.com/${ownerPlaceholder}/snowlane`;

const pattern = /https:\/\/github\.com\/[\w.-]+?\/[\w-]+/;

/** Files whose every address on github.com is that of this repository. */
const places: readonly string[] = [
  "package.json",
  "SECURITY.md",
  "src/version.ts",
  "clients/java/frameworks/pom.xml",
  "clients/java/pom.xml",
  "clients/php/composer.json",
  "clients/python/pyproject.toml",
  "clients/rust/Cargo.toml",
  "clients/typescript/package.json",
  "deploy/container/Dockerfile",
  "deploy/helm/snowlane/Chart.yaml",
];

/**
 * The address of the repository on the web, without a slash at its end.
 *
 * @param root - Of the checkout.
 * @throws Error if package.json names none.
 */
export function repositoryAddress(root: string): string {
  const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly repository?: { readonly type?: string; readonly url?: string };
  };
  const [, address] = /^git\+(https:\/\/github\.com\/[\w.-]+?\/[\w-]+)\.git$/.exec(repository?.url ?? "") ?? [];
  if (address !== undefined && repository?.type === "git") return address;
  const wanted = '"repository": { "type": "git", "url": "git+https://github.com/OWNER/NAME.git" }';
  throw new Error(`package.json names no repository: add ${wanted}, and run npm run generate.`);
}

/**
 * The files that name the repository, by path, as they should be.
 *
 * @throws Error for a file without an address.
 */
export function filesWithAddress(address: string): ReadonlyMap<string, string> {
  const files = places.map((path): readonly [string, string] => {
    const text = readFileSync(path, "utf8");
    if (!pattern.test(text)) throw new Error(`${path} names no repository, which tools/repository-address.ts expects.`);
    return [path, text.replaceAll(new RegExp(pattern, "g"), address)];
  });
  return new Map(files);
}

if (import.meta.main) writeChanged(filesWithAddress(repositoryAddress(".")));
