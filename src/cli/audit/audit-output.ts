import type { Layout } from "../../snowflake/layout.ts";
import { groupDigits } from "../../text/group-digits.ts";
import { printable, timeOf } from "../printable.ts";
import { tableOf } from "../table.ts";
import type { AuditFindings, FindingKind, WorkerCount } from "./audit-findings.ts";
import { findingKinds } from "./audit-findings.ts";

/** Workers that the text lists; JSON has all. */
const workersShownMax = 20;

const sentences: Readonly<Record<FindingKind, string>> = {
  equal: "The same ID occurs more than once.",
  "foreign-worker": "Its worker or datacenter is not one of those expected.",
  "foreign-time": "Its time is outside the expected interval.",
  order: "It is lower than an earlier ID of the same worker in the same file.",
  "lost-digits": "Its last digits are lost: a program kept it as a floating-point number.",
  "not-of-layout": "It has more bits than the layout.",
  unreadable: "The line has no readable ID.",
};

/** Writes the findings for people. */
export function toAuditText(found: AuditFindings, layout: Layout): string {
  const workers = workersOf(found);
  const files = found.files.length === 1 ? found.files[0]! : `${found.files.length} files`;
  const head = `${groupDigits(found.idCount)} IDs of ${printable(files)}, read with the layout ${layout.name}\n\n`;
  const rows = workers
    .slice(0, workersShownMax)
    .map((worker) => [
      String(worker.datacenterId),
      String(worker.workerId),
      groupDigits(worker.count),
      timeOf(worker.firstMs),
      timeOf(worker.lastMs),
    ]);
  const table = rows.length === 0 ? "" : tableOf(["datacenter", "worker", "IDs", "first", "last"], rows);
  const rest = workers.length - rows.length;
  const more = rest > 0 ? `and ${groupDigits(rest)} more workers\n` : "";
  return `${head}${table}${more}${table === "" ? "" : "\n"}${findingsText(found)}`;
}

function findingsText(found: AuditFindings): string {
  if (found.findings.size === 0) return "Nothing was found: all IDs differ.\n";
  return findingKinds
    .flatMap((kind) => {
      const finding = found.findings.get(kind);
      if (finding === undefined) return [];
      const cases = finding.examples.map(({ text, places }) => {
        const where = places.length === 0 ? "" : `  ${printable(places.join("  "))}`;
        return `  ${printable(text)}${where}\n`;
      });
      const rest = finding.count - finding.examples.length;
      const more = rest > 0 ? `  and ${groupDigits(rest)} more\n` : "";
      return `${kind} (${groupDigits(finding.count)}): ${sentences[kind]}\n${cases.join("")}${more}`;
    })
    .join("");
}

/** Writes the findings for programs. */
export function toAuditJson(found: AuditFindings, layout: Layout): string {
  const findings = findingKinds.flatMap((kind) => {
    const finding = found.findings.get(kind);
    return finding === undefined ? [] : [{ kind, ...finding }];
  });
  const workers = workersOf(found).map(({ datacenterId, workerId, count, firstMs, lastMs }) => ({
    datacenterId,
    workerId,
    count,
    first: timeOf(firstMs),
    last: timeOf(lastMs),
  }));
  return `${JSON.stringify({ ids: found.idCount, files: found.files, layout: layout.name, findings, workers })}\n`;
}

function workersOf({ workers }: AuditFindings): readonly WorkerCount[] {
  return [...workers.values()].toSorted(
    (one, other) => one.datacenterId - other.datacenterId || one.workerId - other.workerId,
  );
}
