/** The oldest Node that has node:sqlite without a warning. The same as `engines` in package.json. */
export const nodeVersionMin = "24.15";

/** Other runtimes that also report a version of Node, but lack modules of it. */
const otherRuntimes = { bun: "Bun", deno: "Deno" } as const;

/** The message for a runtime other than Node, or for a Node that is too old; undefined if the runtime can be used. */
export function runtimeProblem(versions: Readonly<Record<string, string | undefined>>): string | undefined {
  for (const [key, name] of Object.entries(otherRuntimes)) {
    if (versions[key] === undefined) continue;
    return `This is ${name}; snowlane needs Node ${nodeVersionMin} or newer. Call a server with @snowlane/client instead.`;
  }
  return nodeTooOld(versions["node"] ?? "0");
}

/** The message for a Node that is too old; undefined for one that is new enough. */
export function nodeTooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [majorMin = 0, minorMin = 0] = nodeVersionMin.split(".").map(Number);
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return undefined;
  return `This is Node ${version}; snowlane needs ${nodeVersionMin} or newer. Get it from https://nodejs.org/.`;
}
