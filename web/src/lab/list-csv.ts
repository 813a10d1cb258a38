import type { ListRow } from "./list-rows.ts";

/** Writes the rows of a list as CSV (RFC 4180). */
export function csvOf(rows: readonly ListRow[]): string {
  const lines = rows.map(({ entry: { reading }, timeMs, isCopy, breakMs }) => {
    const parsed = reading.kind === "read" ? reading.source.parsed : undefined;
    const error = reading.kind === "refused" ? reading.error.message : "";
    const { id, datacenterId, workerId, sequence } = parsed ?? {};
    const time = timeMs === undefined ? undefined : new Date(timeMs).toISOString();
    const flag = isCopy ? "copy" : breakMs > 0 ? "out of order" : "";
    return [reading.line, id, time, datacenterId, workerId, sequence, error, flag].map(cell).join(",");
  });
  const head = "text,id,create_time,datacenter_id,worker_id,sequence,error,flag";
  return `${[head, ...lines].join("\r\n")}\r\n`;
}

/** Writes a cell. One that a spreadsheet would take for a formula gets an apostrophe. */
function cell(value: string | number | bigint | undefined): string {
  const text = String(value ?? "").replace(/^(?=[=+@\t\r-])/, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
