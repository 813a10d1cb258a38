import { delimiter, dirname, join } from "node:path";
import { findTool } from "./tools.ts";

/** How a program in Ruby is started, before the name of its file. */
export async function rubyCall(): Promise<readonly string[]> {
  const { path, env } = await findTool("ruby");
  // Where Debian's packages were only unpacked, Ruby does not know where its own files are.
  const root = dirname(dirname(dirname(path)));
  const places = ["usr/lib/ruby/3.1.0", "usr/lib/x86_64-linux-gnu/ruby/3.1.0"].map((place) => join(root, place));
  const variables = { ...env, RUBYLIB: places.join(delimiter) };
  return ["env", ...Object.entries(variables).map(([name, value]) => `${name}=${value}`), path];
}
