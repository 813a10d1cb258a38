import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { phpCall } from "./php.ts";
import { findTool } from "./tools.ts";

/**
 * The environment in which `composer` and `php` run, without the list of packages of the public registry.
 *
 * @param folder - To be made: for both programs and what Composer keeps.
 */
export async function composerEnvironment(folder: string): Promise<Readonly<Record<string, string>>> {
  mkdirSync(folder);
  const { path } = await findTool("composer");
  const php = (await phpCall()).map((word) => `'${word}'`).join(" ");
  // Where Debian's packages were only unpacked, Composer does not know where its own files are.
  const root = dirname(dirname(path));
  const extensions = ["mbstring", "phar"].map((name) => `-d 'extension=${root}/lib/php/20220829/${name}.so'`).join(" ");
  const flags = `-d 'include_path=${root}/share/php' ${extensions}`;
  const programs = { php: `exec ${php} "$@"`, composer: `exec ${php} ${flags} '${path}' "$@"` };
  for (const [name, line] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  writeFileSync(join(folder, "config.json"), JSON.stringify({ repositories: { "packagist.org": false } }));
  return {
    PATH: [folder, process.env["PATH"]].join(delimiter),
    COMPOSER_HOME: folder,
    COMPOSER_ALLOW_SUPERUSER: "1",
    COMPOSER_NO_INTERACTION: "1",
  };
}
