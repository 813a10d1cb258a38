import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { repositoryProblems } from "./repository-links.ts";

/** A checkout, and the release that it is looked at for. */
interface ReleaseOptions {
  /** The root of the checkout. */
  readonly root: string;
  readonly version: string;
  /**
   * A rehearsal takes the section "Unreleased" of the changelog where the version has none yet, and does without the
   * repository's address.
   */
  readonly isRehearsal: boolean;
}

/** Tells why no release can be made of a checkout, a line each with what to do; empty where one can be made. */
export function releaseProblems({ root, version, isRehearsal }: ReleaseOptions): readonly string[] {
  const git = (...args: readonly string[]): string =>
    spawnSync("git", args, { cwd: root, encoding: "utf8" }).stdout.trim();
  const problems: string[] = [];
  const changed = git("status", "--porcelain").split("\n").filter(Boolean);
  if (changed.length > 0) {
    const paths = changed.slice(0, 3).map((line) => line.replace(/^\S+\s+/, ""));
    problems.push(
      `The checkout has ${changed.length} changes that no commit has (${paths.join(", ")}): commit or stash them.`,
    );
  }
  const changelog = changelogProblem(readFileSync(join(root, "CHANGELOG.md"), "utf8"), version, isRehearsal);
  if (changelog !== undefined) problems.push(changelog);
  const tagged = git("rev-parse", "--quiet", "--verify", `v${version}^{commit}`);
  if (tagged !== "" && tagged !== git("rev-parse", "HEAD"))
    problems.push(
      `The tag v${version} is another commit: raise the version in package.json, and run npm run generate.`,
    );
  if (!isRehearsal) problems.push(...repositoryProblems(root));
  const buf = resolve("node_modules/.bin/buf");
  const breaking = spawnSync(buf, ["breaking", "proto", "--against", "proto/released.binpb"], {
    cwd: root,
    encoding: "utf8",
  });
  if (breaking.status !== 0) {
    const [first = ""] = `${breaking.stdout}${breaking.stderr}`.trim().split("\n");
    problems.push(`The protos break what was released, so callers of the last release would fail: ${first}`);
  }
  return problems;
}

function changelogProblem(changelog: string, version: string, isRehearsal: boolean): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const named = (name: string): string | undefined => sections.find((section) => section.split(/[\s:,]/)[0] === name);
  const section = named(version) ?? (isRehearsal ? named("Unreleased") : undefined);
  if (section === undefined) return `CHANGELOG.md has no section "## ${version}": name the section "Unreleased" so.`;
  if (/^- /m.test(section)) return undefined;
  return `The section "## ${section.split("\n")[0]}" of CHANGELOG.md is empty: say what changed for users.`;
}
