/**
 * Makes a fresh clone runnable, under any recent Node and npm: installs the packages that the lockfile names (the
 * pinned Node among them) and bundles src/ and web/ into dist/ where a source is newer. Plain JavaScript, because the
 * system's Node may be too old for anything else.
 *
 * It is in `start` and `test` themselves, not in `prestart`, which is left out under ignore-scripts=true.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { pruneTypes } from "./prune-types.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
process.chdir(root);
const pinnedNode = "node_modules/.bin/node";

function pinnedNodeRuns() {
  if (!existsSync(pinnedNode)) return false;
  const wanted = JSON.parse(readFileSync("package.json", "utf8")).devDependencies.node;
  const found = spawnSync(pinnedNode, ["-v"], { encoding: "utf8" });
  return found.status === 0 && found.stdout.trim() === `v${wanted}`;
}

/**
 * npm writes node_modules/.package-lock.json last, so it is older than package-lock.json only when an install is due.
 */
function installIsDue() {
  const installed = "node_modules/.package-lock.json";
  return (
    !existsSync(installed) || statSync(installed).mtimeMs < statSync("package-lock.json").mtimeMs || !pinnedNodeRuns()
  );
}

async function run(command, args, failure) {
  const result = spawnSync(command, args, { stdio: ["ignore", 2, 2] });
  if (result.status === 0) return;
  // Ctrl-C that came meanwhile is reported in one of the next turns of the event loop, and is not a failure.
  await sleep(20);
  if (!isInterrupted) console.error(failure);
  process.exit(isInterrupted ? 130 : (result.status ?? 1));
}

async function install() {
  console.error("Installing what package-lock.json names. This is done once, and can take a minute.");
  const npm = process.env.npm_execpath;
  const [command, first] = npm ? [process.execPath, [npm]] : ["npm", []];
  const flags = ["ci", "--include=dev", "--ignore-scripts=false", "--loglevel=error", "--no-fund", "--no-audit"];
  const failure = "npm ci failed: see above. With a reachable npm registry, run the command again.";
  await run(command, [...first, ...flags], failure);
}

function newestSourceMs(folder) {
  let newest = statSync(folder).mtimeMs;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    newest = Math.max(newest, entry.isDirectory() ? newestSourceMs(path) : statSync(path).mtimeMs);
  }
  return newest;
}

function bundleIsStale() {
  const stamp = "dist/.bundled";
  if (!existsSync(stamp)) return true;
  const bundledMs = statSync(stamp).mtimeMs;
  const tools = ["bundle", "bundle-page", "bundle-parts"].map((name) => `tools/${name}.mjs`);
  const texts = ["package.json", "docs/reports/openapi.json", "docs/safety.md"];
  const files = [...texts, ...tools].map((path) => statSync(path).mtimeMs);
  // The page has the simulation in it.
  const folders = ["src", "web", "test/simulation"].map(newestSourceMs);
  return [...folders, ...files].some((ms) => ms > bundledMs);
}

// An interrupted install tidies up first. Without a handler, this process would end before it, and a second install
// could begin beside it.
let isInterrupted = false;
process.on("SIGINT", () => void (isInterrupted = true));

if (installIsDue()) await install();
if (bundleIsStale()) await run(pinnedNode, ["tools/bundle.mjs"], "The bundle could not be made: see above.");
if (process.argv.includes("--build")) {
  const compile = ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"];
  await run(pinnedNode, compile, "The types could not be written: see above.");
  pruneTypes("dist/types");
}
