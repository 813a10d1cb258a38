/** The oldest Node that has node:sqlite without a warning. The same as `engines` in package.json. */
export const nodeVersionMin = "24.15";

/** The message for a Node that is too old; undefined for one that is new enough. */
export function nodeTooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [majorMin = 0, minorMin = 0] = nodeVersionMin.split(".").map(Number);
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return undefined;
  return `This is Node ${version}; snowlane needs ${nodeVersionMin} or newer. Get it from https://nodejs.org/.`;
}
