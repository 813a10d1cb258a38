import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type PhpFpm, startPhpFpm } from "../servers/php-fpm-server.ts";
import { blocksOf } from "./page-blocks.ts";

/** What a worker of the pool answers. */
export interface Taken {
  readonly worker: number;
  readonly ids: readonly string[];
  /** Of the IDs that it could not get. */
  readonly reasons: readonly string[];
  readonly refills: number;
}

/**
 * Starts four workers of PHP-FPM behind nginx, which take IDs by the lines for PHP in docs/frameworks.md.
 *
 * @param folder - For the program.
 * @param urls - Of the servers, separated by commas.
 */
export async function startIdPool(folder: string, urls: string): Promise<PhpFpm> {
  const script = join(folder, "ids.php");
  writeFileSync(script, program());
  return await startPhpFpm({ script, workers: 4, environment: { SNOWLANE_URL: urls } });
}

/** Makes one request to the pool, for this many IDs. @throws Error where no worker answers. */
export async function takeFromPool(pool: PhpFpm, count: number): Promise<Taken> {
  const response = await fetch(`${pool.url}/?count=${count}`);
  if (!response.ok) throw new Error(`The pool answers with ${response.status}.`);
  return (await response.json()) as Taken;
}

/** The lines of docs/frameworks.md, and then as many IDs as a request asks for. */
function program(): string {
  const [lines = ""] = blocksOf("docs/frameworks.md", "php");
  const head = '<?php\nrequire "vendor/autoload.php";\n';
  if (!lines.startsWith(head))
    throw new Error(`docs/frameworks.md shows lines for PHP that begin otherwise:\n${lines}`);
  return `<?php require "${resolve("clients/php/autoload.php")}"; ob_start();\n${lines.slice(head.length)}
$taken = [ob_get_clean()];
$reasons = [];
for ($left = (int) ($_GET["count"] ?? 1) - 1; $left > 0; $left--) {
    try {
        $taken[] = (string) $ids->nextId();
    } catch (Snowlane\\SnowlaneException $failure) {
        $reasons[] = $failure->reason->value;
    }
}
$refills = $ids->stats()->refills;
echo json_encode(["worker" => getmypid(), "ids" => $taken, "reasons" => $reasons, "refills" => $refills]);
`;
}
