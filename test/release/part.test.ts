import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ownVersion } from "../../tools/versions.ts";
import { runReadmeBlock } from "../support/processes/bare-clone.ts";
import { blocksOf } from "../support/processes/page-blocks.ts";
import { runCommand } from "../support/processes/run-command.ts";

/** One part of a release, for a user who needs no more. */
const folder = mkdtempSync(join(tmpdir(), "snowlane-part-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the packages of npm are built where there is neither Go nor Java nor Python", {
  timeout: 1_200_000,
}, async () => {
  const clone = join(folder, "clone");
  const programs = join(folder, "bin");
  mkdirSync(programs);
  const find = "for tool in env sh git tar gzip uname node npm; do command -v $tool; done";
  for (const path of (await runCommand("sh", ["-c", find])).trim().split("\n"))
    symlinkSync(path, join(programs, basename(path)));
  await runCommand("git", ["clone", "--quiet", "--no-hardlinks", ".", clone]);
  const env = { PATH: programs, npm_config_prefer_offline: "true", npm_config_loglevel: "silent" };
  const line = blocksOf("docs/deploying.md", "sh").findIndex((block) => block.startsWith("npm run release "));
  const sums = await runReadmeBlock("docs/deploying.md", line, { cwd: clone, env });
  const version = ownVersion();
  const files = [
    `snowlane-${version}.spdx.json`,
    `snowlane-${version}.tgz`,
    `snowlane-client-${version}.tgz`,
    `snowlane-with-drivers-${version}.spdx.json`,
    `snowlane-with-drivers-${version}.tgz`,
  ];
  expect(
    sums
      .trim()
      .split("\n")
      .map((line) => line.split("  ")[1]),
  ).toEqual(files);
  // The Dockerfile looks for its package there.
  expect(readdirSync(join(clone, "release", version)).toSorted()).toEqual(["SHA256SUMS", ...files].toSorted());
});
