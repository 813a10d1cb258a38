import { hash, randomBytes } from "node:crypto";
import { type Setting, SettingError, type Settings, withFallback } from "../../config/setting.ts";
import type { Command } from "../command.ts";
import { CommandError, exitCodes } from "../exit-code.ts";
import { type Permission, permissions } from "../../server/call/method-table.ts";
import { principalName } from "../../server/guards/principal-file.ts";

const tokenBytes = 32;

const options = {
  permissions: withFallback<readonly Permission[]>(
    {
      name: "permissions",
      placeholder: "NAME,...",
      words: permissions,
      doc:
        "What the token permits: ids, sequences, manage (creating and changing sequences), observe (workers, metrics and " +
        "reflection) or all.",
      parse: parsePermissions,
      format: (value) => value.join(","),
    } satisfies Setting<readonly Permission[]>,
    ["ids"],
  ),
};

/** `snowlane token`. */
export const token: Command<Settings, typeof options> = {
  name: "token",
  summary: "Makes a token for a caller, and the entry for the file of serve --principals",
  positional: { placeholder: "NAME", doc: "The name of the caller, such as checkout." },
  settings: {},
  options,
  examples: ["snowlane token checkout", "snowlane token billing --permissions ids,sequences"],
  run: async ({ positionals, options: { permissions }, stdout, stderr }) => {
    const [name = "", ...more] = positionals;
    if (more.length > 0 || !principalName.pattern.test(name)) {
      throw new CommandError(`Give one name: ${principalName.hint}.`, exitCodes.usage);
    }
    const made = `snw_${randomBytes(tokenBytes).toString("base64url")}`;
    const entry = { name, tokens: [`sha256:${hash("sha256", made, "hex")}`], permissions };
    stdout.write(`${made}\n${JSON.stringify(entry)}\n`);
    stderr.write("The first line is the token: it is shown only now. The second line belongs into the file.\n");
    return exitCodes.done;
  },
};

function parsePermissions(text: string): readonly Permission[] {
  const words = new Set(text.split(",").map((word) => word.trim()));
  const known = permissions.filter((permission) => words.has(permission));
  if (known.length === words.size) return known;
  throw new SettingError(`one or more of ${permissions.join(",")}`);
}
