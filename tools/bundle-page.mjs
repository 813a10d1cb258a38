/**
 * Bundles web/ into a folder that the server's page-files.ts serves: index.html, assets with a hash of their content in
 * their names, the API's description for other tools, each beside its compressed copies, and manifest.json, which lists
 * them by path.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

const types = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
  json: "application/json",
};

/** `import { text } from "./file?text"` gives the text of a file: samples are shown as they are tested. */
const texts = {
  name: "texts",
  resolveId: async function (id, importer) {
    if (!id.endsWith("?text")) return undefined;
    const resolved = await this.resolve(id.slice(0, -"?text".length), importer, { skipSelf: true });
    return resolved === null ? undefined : `\0text:${resolved.id}`;
  },
  load: (id) =>
    id.startsWith("\0text:")
      ? { code: `export const text = ${JSON.stringify(readFileSync(id.slice(6), "utf8"))};`, moduleType: "js" }
      : undefined,
};

/** The script of the simulation's worker, in one file: it is loaded as a whole, or not at all. */
const simulation = "web/proof/run/worker.ts";

/**
 * The sources with the four switches that `#/proof` has, which the product has not; and, in a worker, the stand-ins for
 * Node's own modules and for what no run of the view does. docs/adr/0199 says why.
 */
async function simulationParts() {
  const rules = await rolldown({ input: "test/simulation/shown/rule-switches.ts", platform: "node" });
  const { output } = await rules.generate({ format: "esm" });
  await rules.close();
  // Bundled first, because the Node that makes the page may be one that reads no TypeScript.
  const { withSwitches } = await import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
  return {
    name: "simulation-parts",
    resolveId: (id) => {
      if (/\/(claim-beside|release-expired|danger-watch)\.ts$/.test(id)) return resolve("web/proof/run/left-out.ts");
      if (!id.startsWith("node:")) return undefined;
      if (id === "node:crypto" || id === "node:os") return resolve("web/proof/run/node-stubs.ts");
      throw new Error(`The simulation needs ${id}, which a browser has not.`);
    },
    transform: (code, id) => (id.includes("/src/") ? { code: withSwitches(id, code) } : undefined),
  };
}

/** Bundles the script of the worker. */
async function bundleSimulation() {
  const bundle = await rolldown({ input: simulation, platform: "browser", plugins: [await simulationParts()] });
  const { output } = await bundle.generate({ format: "esm", minify: true, comments: false, codeSplitting: false });
  await bundle.close();
  const [{ code, moduleIds }] = output;
  return { code, moduleIds };
}

/**
 * `import { address } from "./file?address"` gives the address of an asset that the page loads when it needs it. Assets
 * stand beside each other, so it is right wherever the page is served: under a prefix, too.
 */
const addresses = (assets) => ({
  name: "addresses",
  resolveId: (id, importer) =>
    id.endsWith("?address") ? `\0address:${resolve(dirname(importer), id.slice(0, -"?address".length))}` : undefined,
  load: (id) =>
    id.startsWith("\0address:") ? { code: addressCode(assets[id.slice(9)]), moduleType: "js" } : undefined,
});

const addressCode = (path) =>
  `export const address = new URL(${JSON.stringify(`./${path.split("/").at(-1)}`)}, import.meta.url).href;`;
const hashOf = (content) => createHash("sha256").update(content).digest("base64url").slice(0, 12);
/** The style of the first load, in the order in which later rules win. */
const styles = ["web/page.css", "web/parse.css"];
/** Without comments, indentation and the spaces of the format: brotli does the rest. */
const shortenCss = (css) =>
  css
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/\s*\n\s*/g, "")
    .replace(/ \{/g, "{")
    .replace(/: /g, ":")
    .replace(/;\}/g, "}");

/** Makes the page in an empty folder, and gives the paths of the modules that went into it. */
export async function bundlePage(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "assets"), { recursive: true });
  const manifest = {};
  const add = (path, file, content) => {
    const bytes = Buffer.from(content);
    const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } });
    const gzip = gzipSync(bytes, { level: 9 });
    writeFileSync(join(folder, file), bytes);
    writeFileSync(join(folder, `${file}.br`), brotli);
    writeFileSync(join(folder, `${file}.gz`), gzip);
    const type = types[file.split(".").at(-1)];
    const sizes = { identity: bytes.length, br: brotli.length, gzip: gzip.length };
    manifest[path] = { file, type, hash: hashOf(bytes), sizes };
  };
  const addAsset = (name, extension, content) => {
    const file = `assets/${name}-${hashOf(content)}.${extension}`;
    add(`/${file}`, file, content);
    return `/${file}`;
  };

  const worker = await bundleSimulation();
  const assets = {
    [resolve(simulation)]: addAsset("simulation", "js", worker.code),
    [resolve("web/proof/proof.css")]: addAsset("proof", "css", shortenCss(readFileSync("web/proof/proof.css", "utf8"))),
    // Proof quotes it: the server has no other documents, and a reader may have no network.
    [resolve("docs/safety.md")]: addAsset("safety", "txt", readFileSync("docs/safety.md", "utf8")),
  };
  const plugins = [texts, addresses(assets)];
  const bundle = await rolldown({ input: { main: "web/src/main.ts" }, platform: "browser", plugins });
  const { output } = await bundle.generate({
    format: "esm",
    minify: true,
    entryFileNames: "assets/[name]-[hash].js",
    chunkFileNames: "assets/[name]-[hash].js",
    // What the finder shares with the first load stays in that, in place of a chunk and a request of its own.
    codeSplitting: { groups: [{ name: "page", test: /web\/src\/(?:page|layout-samples)\.ts$/ }] },
  });
  await bundle.close();
  for (const { fileName, code } of output) add(`/${fileName}`, fileName, code);
  const entry = output.find(({ isEntry }) => isEntry);
  // The script runs small; what it begins is fetched and compiled meanwhile.
  const next = [...new Set([...entry.imports, ...entry.dynamicImports])];

  const icon = readFileSync("web/icon.svg", "utf8");
  // Where a browser looks beside a file that names no icon: the text of safety.md.
  add("/favicon.ico", "favicon.svg", icon);
  const places = {
    style: `.${addAsset("page", "css", styles.map((path) => shortenCss(readFileSync(path, "utf8"))).join(""))}`,
    icon: `.${addAsset("icon", "svg", icon)}`,
    script: `./${entry.fileName}`,
    preloads: next.map((name) => `<link rel="modulepreload" href="./${name}">`).join(""),
  };
  const html = readFileSync("web/index.html", "utf8").replace(/<!--[\s\S]*?-->\n/g, "");
  const page = html.replace(/\{(\w+)\}/g, (_, name) => places[name]);
  add("/", "index.html", page);
  add("/openapi.json", "openapi.json", readFileSync("docs/reports/openapi.json"));
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
  return [...output.flatMap(({ moduleIds }) => moduleIds), ...worker.moduleIds];
}
