/** How large each package of the server is, and what its installation brings along. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../support/processes/run-command.ts";
import type { Benchmark } from "./benchmark.ts";
import { installPackages, type ServerPackage } from "./server-packages.ts";

/** What a package may take at most, and what of it that is. */
const most: Readonly<Record<ServerPackage["name"], readonly [claim: string, megabytes: number]>> = {
  "npm package": ["npm package, packed, with the page", 1],
  executable: ["executable, unpacked", 140],
  container: ["image, with Node, unpacked", 160],
};

const row = (claim: string, found: number, limit: number, unit: string): readonly string[] => [
  `${claim}: at most ${limit}${unit}`,
  `${unit === "" ? found : found.toFixed(found < 10 ? 2 : 0)}${unit}`,
  found <= limit ? "yes" : "no",
];

/** Counts the packages that npm puts into an empty project for a packed file. */
async function countInstalled(folder: string, archive: string): Promise<number> {
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), "{}\n");
  const flags = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  await runCommand("npm", ["install", ...flags, archive], { cwd: project });
  return readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith(".")).length;
}

/** Sizes of the packages. */
export const sizesBenchmark: Benchmark = {
  name: "sizes",
  title: "Sizes of the packages",
  about: [
    "What a user downloads and installs, in MB of 1,000,000 bytes. The image has a base of Debian's packages and the",
    "pinned Node, as in the tests: that of the Dockerfile comes from a registry, and has its own size.",
  ].join("\n"),
  packages: [],
  run: async (log) => {
    await runCommand(process.execPath, ["tools/bundle.mjs"]);
    const folder = mkdtempSync(join(tmpdir(), "snowlane-bench-packages-"));
    const { packages, archive, remove } = await installPackages(folder, log);
    try {
      const sizes = packages.map(({ name, bytes }) => row(most[name][0], bytes / 1e6, most[name][1], " MB"));
      const added = row("packages that npm installs for it", await countInstalled(folder, archive), 1, "");
      return [{ title: "Targets of the sizes", columns: ["target", "found", "met"], rows: [...sizes, added] }];
    } finally {
      remove();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
