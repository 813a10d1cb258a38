import { inWholeTicks } from "../../snowflake/past-numbers.ts";
import type { PastStore } from "../../worker/open-past.ts";
import { exitCodes } from "../exit-code.ts";
import type { BackfillInput } from "./backfill-options.ts";
import { backfillSql, checkSlots, type SqlRows } from "./backfill-sql.ts";
import { labelled, previewLines, requestOf } from "./past-request.ts";

/** Claims for the rows of a database, and prints the statements by which it numbers them. */
export async function backfillRows({ options, stdout }: BackfillInput, past: PastStore): Promise<number> {
  const { sql = "postgresql", table = "", key = "", id = "", time = "", from = 0, to = 0 } = options;
  const { unit, timeZone = "UTC", lagMaxMs, lanes, reason = "", dryRun } = options;
  const rows: SqlRows = { dialect: sql, table, key, id, time, unit, timeZone, fromMs: from, toMs: to, lagMaxMs };
  // The last rows may need slots beyond the end, by as much as they may lag.
  const interval = inWholeTicks(past.layout, from, to + lagMaxMs);
  checkSlots(past.layout, interval, lanes);
  const request = requestOf(options, interval);
  if (dryRun) {
    stdout.write(labelled(previewLines(past.layout, await past.preview(request), interval)));
    return exitCodes.done;
  }
  const grant = await past.claim(request);
  const { layout, record } = past;
  stdout.write(backfillSql(rows, { layout, deploymentId: record.deploymentId, grant, reason }));
  return exitCodes.done;
}
