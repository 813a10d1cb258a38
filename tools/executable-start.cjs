/**
 * The script that Node runs in the executable: it loads the bundle's files from the assets, each when it is needed. One
 * script of 4 MB in place of it took 40 MB more at each start: docs/adr/0172.
 */
const { getAsset } = require("node:sea");
const { compileFunction } = require("node:vm");

const modules = new Map();
const names = ["module", "exports", "require", "__filename"];

/** As `require` in the bundle's files, which are beside each other; other names are those of Node's modules. */
function load(name) {
  if (!name.startsWith("./")) return require(name);
  const loaded = modules.get(name);
  if (loaded !== undefined) return loaded.exports;
  const module = { exports: {} };
  modules.set(name, module);
  const code = getAsset(name.slice(2), "utf8").replace(/^#!.*/, "");
  compileFunction(code, names, { filename: name })(module, module.exports, load, process.execPath);
  return module.exports;
}

load("./main.js");
