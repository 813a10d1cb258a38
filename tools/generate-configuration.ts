/** Writes docs/configuration.md from the settings themselves. */
import { writeFileSync } from "node:fs";
import { serverSettings } from "../src/config/server-settings.ts";
import { docParts, environmentName, flagName, type Setting } from "../src/config/setting.ts";
import { serverSettingGroups } from "../src/config/setting-groups.ts";

const head = `<!-- Written by npm run generate from src/config. Do not edit. -->

# Configuration

You can give every setting in three places. A flag wins over the environment, and the environment over the file:

\`\`\`sh run
echo '{ "drainTimeout": "5s" }' > snowlane.json
snowlane serve --dry-run --drain-timeout 5s
SNOWLANE_DRAIN_TIMEOUT=5s snowlane serve --dry-run
snowlane serve --dry-run --config snowlane.json
\`\`\`

The file holds one JSON object whose keys are the names below; \`SNOWLANE_CONFIG\` can name the file instead of
\`--config\`. An empty variable counts as not set. A time span is a number with \`ms\`, \`s\`, \`m\` or \`h\`. All problems
are reported together, each with the setting, its value and what to do; then the process ends with code 2.
\`snowlane serve --dry-run\` checks and prints the configuration, and starts nothing. Passwords in the store's URL are
never logged or printed.
`;

function section(setting: Setting<unknown>): string {
  const isSaid = setting.fallback === undefined && docParts(setting.doc).fallback !== undefined;
  const fallback = setting.fallback === undefined ? "none" : `\`${setting.format(setting.fallback)}\``;
  return `### ${setting.name}

\`${`--${flagName(setting)} ${setting.placeholder}`.trimEnd()}\` · \`${environmentName(setting)}\`

${setting.doc}${isSaid ? "" : `\n\nDefault: ${fallback}`}
`;
}

const settings = Object.values<Setting<unknown>>(serverSettings);
const groups = serverSettingGroups.map(({ title, note, names }) => {
  const sections = names.map((name) => section(settings.find((setting) => setting.name === name)!));
  return `## ${title}\n\n${note === undefined ? "" : `${note}\n\n`}${sections.join("\n")}`;
});
writeFileSync("docs/configuration.md", `${[head, ...groups].join("\n").trimEnd()}\n`);
