import { hash, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { type Setting, SettingError, type Settings, withFallback } from "../../config/setting.ts";
import { text } from "../../config/setting-kinds.ts";
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
  to: text({
    name: "to",
    placeholder: "FILE",
    doc: "Writes the token to this new file, which only its owner may read (mode 0600), and prints only the entry.",
  }),
};

/** `snowlane token`. */
export const token: Command<Settings, typeof options> = {
  name: "token",
  summary: "Creates a token for a caller, and its entry for the principals file of serve",
  positional: { placeholder: "NAME", doc: "The name of the caller, such as checkout." },
  settings: {},
  options,
  examples: ["snowlane token checkout", "snowlane token billing --permissions ids,sequences"],
  run: async ({ positionals, options: { permissions, to }, stdout, stderr }) => {
    const [name = "", ...more] = positionals;
    if (more.length > 0 || !principalName.pattern.test(name)) {
      throw new CommandError(`Give one name: ${principalName.hint}.`, exitCodes.usage);
    }
    const made = `snw_${randomBytes(tokenBytes).toString("base64url")}`;
    const entry = { name, tokens: [`sha256:${hash("sha256", made, "hex")}`], permissions };
    if (to !== undefined) {
      writeToken(to, made);
      stdout.write(`${JSON.stringify(entry)}\n`);
      stderr.write(`The token is in ${to}, with mode 0600. Put the line into the principals file.\n`);
      return exitCodes.done;
    }
    stdout.write(`${made}\n${JSON.stringify(entry)}\n`);
    stderr.write(
      "The first line is the token: it is shown only now. Keep it in a file of mode 0600, such as --to FILE creates. " +
        "Put the second line into the principals file.\n",
    );
    return exitCodes.done;
  },
};

/** @throws CommandError if the file is there already, or cannot be made. */
function writeToken(path: string, made: string): void {
  try {
    writeFileSync(path, `${made}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    throw new CommandError(`The token cannot be written: ${(error as Error).message}.`, exitCodes.usage);
  }
}

function parsePermissions(text: string): readonly Permission[] {
  const words = new Set(text.split(",").map((word) => word.trim()));
  const known = permissions.filter((permission) => words.has(permission));
  if (known.length === words.size) return known;
  throw new SettingError(`one or more of ${permissions.join(",")}`);
}
