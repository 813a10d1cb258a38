import { layoutSettings } from "../../config/layout-settings.ts";
import { resolveLayout } from "../../config/resolve-layout.ts";
import { problemsOf, valueOf } from "../../config/resolved.ts";
import { choice, text } from "../../config/setting-kinds.ts";
import { withFallback } from "../../config/setting.ts";
import type { Layout } from "../../snowflake/layout.ts";
import type { Command } from "../command.ts";
import { exitCodes } from "../exit-code.ts";
import { type SqlDialect, type SqlFunction, sqlDialectNames, sqlDialects } from "./sql-dialect.ts";
import { sqlFunctions } from "./sql-functions.ts";

const options = {
  dialect: choice({ name: "dialect", words: sqlDialectNames, doc: "The database. Required." }),
  prefix: withFallback(
    text({
      name: "prefix",
      placeholder: "TEXT",
      pattern: /^[a-z][a-z0-9_]{0,30}$/,
      hint: "a letter of a-z, then up to 30 characters of a-z, 0-9 and _",
      doc: "The beginning of each function's name. Give another one for a second layout.",
    }),
    "snowlane",
  ),
};

/** `snowlane sql`. */
export const sql: Command<typeof layoutSettings, typeof options> = {
  name: "sql",
  summary: "Prints SQL functions with which a database reads IDs, checks them, and finds those of a time interval",
  settings: layoutSettings,
  options,
  examples: [
    "snowlane sql --dialect postgresql | psql",
    "snowlane sql --dialect mysql --layout sonyflake | mariadb ids",
    "snowlane sql --dialect clickhouse --layout clickhouse --prefix ch",
  ],
  check: (settings, { dialect }) => [
    ...problemsOf(resolveLayout(settings)),
    ...(dialect === undefined ? [{ place: "--dialect", hint: `one of ${sqlDialectNames.join(", ")}` }] : []),
  ],
  run: async ({ settings, options: { dialect = "postgresql", prefix }, stdout }) => {
    const layout = valueOf(resolveLayout(settings));
    stdout.write(sqlText(layout, sqlDialects[dialect], prefix));
    return exitCodes.done;
  },
};

function sqlText(layout: Layout, dialect: SqlDialect, prefix: string): string {
  const functions = sqlFunctions(layout, dialect, prefix);
  const fields = layout.fields.map(({ kind, bits }) => `${kind}:${bits}`).join(",");
  const head = `-- The layout ${layout.name} (${fields}) for ${dialect.title}.`;
  const range = `--   WHERE id BETWEEN ${prefix}_first_id(start) AND ${prefix}_last_id(end)`;
  const use = `-- The IDs of an interval, without its end:\n${range}`;
  return `${[head, use, ...functions.map((each) => statementOf(each, dialect))].join("\n")}\n`;
}

function statementOf(definition: SqlFunction, { createFunction }: SqlDialect): string {
  const { name, argument, about, expression } = definition;
  const statement = createFunction?.(definition) ?? `${expression} -- ${name}(${argument})`;
  return `\n-- ${about}\n${statement}`;
}
