import { delimiter } from "node:path";
import { blocksOf } from "./page-blocks.ts";
import { type CommandOptions, runCommand } from "./run-command.ts";

/** Clones this repository into `folder`, as it was last committed: nothing is installed or built there. */
export async function makeBareClone(folder: string): Promise<void> {
  await runCommand("git", ["clone", "--quiet", "--no-hardlinks", process.cwd(), folder]);
}

/** The environment's PATH without the programs of this project: a reader of a README has none of them. */
export function pathOfReader(): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.filter((folder) => !folder.includes("node_modules")).join(delimiter);
}

/**
 * Runs a shell block of a README word for word, and ends with its first line that fails; returns what it printed.
 *
 * @param index - Of the block among the page's blocks of shell lines, from 0.
 * @param places - What to put in place of paths that stand for the reader's own, such as `/path/to/project`.
 * @throws Error, if the page has no such block or no such path.
 */
export async function runReadmeBlock(
  readme: string,
  index: number,
  { places = {}, ...options }: CommandOptions & { readonly places?: Readonly<Record<string, string>> },
): Promise<string> {
  let lines = blocksOf(readme, "sh")[index];
  if (lines === undefined) throw new Error(`${readme} has no block ${index} of shell lines.`);
  for (const [written, meant] of Object.entries(places)) {
    if (!lines.includes(written)) throw new Error(`The lines of ${readme} do not name ${written}:\n${lines}`);
    lines = lines.replaceAll(written, meant);
  }
  const env = { PATH: pathOfReader(), ...options.env };
  return await runCommand("sh", ["-e", "-c", lines], { ...options, env });
}
