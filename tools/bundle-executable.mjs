/**
 * Bundles src/ with the drivers of all stores, and web/, into a folder whose files become the executable's assets: as
 * CommonJS, because Node 24 runs no module there. A thread is a single file, because it is started from its text.
 * docs/adr/0172 says why it is not one file.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { bundlePage } from "./bundle-page.mjs";
import { external, groups, lightModules } from "./bundle-parts.mjs";
import { thirdPartyNotices } from "./third-party-notices.mjs";

async function bundle(name, path, codeSplitting, folder) {
  const made = await rolldown({
    input: { [name]: path },
    platform: "node",
    plugins: [lightModules],
    external: external({ hasDrivers: true }),
  });
  const { output } = await made.write({
    dir: folder,
    format: "cjs",
    // A script in the executable has import() for modules of Node alone, and a file of the bundle not even that.
    dynamicImportInCjs: false,
    entryFileNames: "[name].js",
    chunkFileNames: "[name].js",
    codeSplitting,
  });
  await made.close();
  return output.flatMap(({ moduleIds = [] }) => moduleIds);
}

const [, , folder] = process.argv;
const assets = join(folder, "assets");
const modules = [
  ...(await bundle("main", "src/cli/main.ts", { groups }, assets)),
  ...(await bundle("sqlite-thread", "src/store/sqlite/sqlite-thread.ts", false, assets)),
  ...(await bundle("sqlite-sequence-thread", "src/sequence/stores/sqlite-sequence-thread.ts", false, assets)),
  ...(await bundlePage(join(assets, "page"))),
];
writeFileSync(join(folder, "THIRD_PARTY_NOTICES"), thirdPartyNotices(modules));
