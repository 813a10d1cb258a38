import { runCommand } from "../processes/run-command.ts";
import { findTool } from "./tools.ts";

/** An extension that the client for PHP uses. */
type Extension = "curl" | "apcu";

/** How a program in PHP is started, before the name of its file: with these extensions, and without a php.ini. */
export async function phpCall(extensions: readonly Extension[] = ["curl"]): Promise<readonly string[]> {
  const { path, env } = await findTool("php");
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const flags = await extensionFlags(path, env, extensions);
  return ["env", ...variables, path, "-n", ...flags, "-d", "apc.enable_cli=1"];
}

/** The flags that load extensions which a program of PHP does not have built in. */
export async function extensionFlags(
  path: string,
  env: Readonly<Record<string, string>>,
  extensions: readonly Extension[],
): Promise<readonly string[]> {
  const builtIn = (await runCommand(path, ["-n", "-m"], { env })).toLowerCase().split("\n");
  const missing = extensions.filter((extension) => !builtIn.includes(extension));
  const files = await Promise.all(missing.map(async (extension) => (await findTool(`php-${extension}`)).path));
  return files.flatMap((file) => ["-d", `extension=${file}`]);
}
