import { serverSettings } from "../config/server-settings.ts";
import { environmentName } from "../config/setting.ts";
import { suggestion } from "../config/suggestion.ts";

const prefix = "SNOWLANE_";
const names = ["SNOWLANE_CONFIG", ...Object.values(serverSettings).map(environmentName)].map(unprefixed);

/**
 * Gives a sentence for each variable whose name resembles a setting's but is not one.
 *
 * Others are left alone: Kubernetes gives every container `SNOWLANE_PORT` and more, if a service is called snowlane.
 */
export function unknownVariables(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const unknown = Object.keys(environment).filter(
    (name) => name.startsWith(prefix) && !names.includes(unprefixed(name)),
  );
  return unknown.flatMap((name) => {
    const guess = suggestion(unprefixed(name), names, prefix);
    return guess === "" ? [] : [`The variable ${name} is not a setting, and has no effect.${guess}`];
  });
}

function unprefixed(name: string): string {
  return name.slice(prefix.length);
}
