/**
 * Builds every package of a release into one folder, from a clean checkout of the last commit, and prints the commands
 * that publish them; it runs none of these. `--dry-run` leaves the commands out: `npm run release -- --dry-run`. With
 * it, one part can be built alone: `npm run release -- --dry-run npm`.
 */
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { onOff, text } from "../src/config/setting-kinds.ts";
import { withFallback } from "../src/config/setting.ts";
import { runProgram } from "../test/support/processes/run-program.ts";
import { buildPackages, missingPrograms, releaseParts } from "./release/build-packages.ts";
import { endOnSignal } from "./release/end-on-signal.ts";
import { publishCommands } from "./release/publish-commands.ts";
import { releaseProblems } from "./release/release-problems.ts";
import { makeTargetFolder } from "./release/target-folder.ts";
import { ownVersion } from "./versions.ts";

const options = {
  dryRun: onOff({
    name: "dryRun",
    doc: "Builds everything, and prints no command that publishes. The changelog may still say Unreleased.",
  }),
  to: withFallback(text({ name: "to", placeholder: "FOLDER", doc: "Where the packages go." }), "release"),
};

/** The SHA-256 sums of all files below a folder, as `sha256sum --check` reads them. */
function sumsOf(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  const lines = files.toSorted().map((file) => {
    const sum = createHash("sha256")
      .update(readFileSync(join(folder, file)))
      .digest("hex");
    return `${sum}  ${file}\n`;
  });
  return lines.join("");
}

function tell(line: string): void {
  process.stderr.write(`Builds: ${line}\n`);
}

await runProgram({
  call: "npm run release --",
  summary: "Builds the packages of a release into one folder, and prints the commands that publish them",
  options,
  words: {
    placeholder: "[PART...]",
    doc: `With --dry-run, some of them: ${releaseParts.join(", ")}. The container needs npm.`,
    known: releaseParts,
  },
  examples: ["npm run release -- --dry-run", "npm run release -- --dry-run npm", "npm run release"],
  run: async ({ dryRun, to }, words) => {
    const version = ownVersion();
    const parts = words.length > 0 ? words : releaseParts;
    const problems = [...releaseProblems({ root: ".", version, isRehearsal: dryRun }), ...missingPrograms(parts)];
    if (words.length > 0 && !dryRun)
      problems.push(`A release has every part: leave out ${words.join(", ")}, or add --dry-run.`);
    if (problems.length > 0) {
      for (const problem of problems) process.stderr.write(`${problem}\n`);
      return 1;
    }
    endOnSignal();
    // Packages hold modes and times of files: those of the person who builds them must not show.
    process.umask(0o022);
    process.env["TZ"] = "UTC";
    const target = resolve(to, version);
    makeTargetFolder(to);
    // A folder under the final name is complete.
    const half = mkdtempSync(join(dirname(target), `.${version}-`));
    process.once("exit", () => rmSync(half, { recursive: true, force: true }));
    await buildPackages({ root: ".", target: half, version, parts, tell });
    const sums = sumsOf(half);
    writeFileSync(join(half, "SHA256SUMS"), sums);
    rmSync(target, { recursive: true, force: true });
    renameSync(half, target);
    process.stdout.write(sums);
    process.stderr.write(`Built ${relative(".", target)}.\n`);
    if (!dryRun) process.stdout.write(`\n${publishCommands(version, relative(".", target))}`);
    return 0;
  },
});
