/** Writes docs/metrics.md from the table of metrics. Part of `npm run generate`. */
import { writeFileSync } from "node:fs";
import { type Metric, metricTable } from "../src/server/metrics/metric-table.ts";

const head = `<!-- Written by npm run generate from src/server/metrics/metric-table.ts. Do not edit. -->

# Metrics

A server answers \`GET /metrics\` in Prometheus' text format:

\`\`\`sh run
curl -s http://127.0.0.1:7609/metrics | grep snowlane_ids_issued_total
\`\`\`

Where callers need credentials, a scrape needs the permission \`observe\`: [security.md](security.md#callers).
\`--admin-listen 127.0.0.1:7610\` has the same path on a listener of its own, which needs no credentials on loopback.
Servers that share a port by \`--reuse-port\` have it only there. \`--metrics off\` turns counting and the path off.

- A scrape reads what is in memory. It never waits for the store.
- Every label has a bounded number of values, whatever callers send. A method that does not exist counts as \`other\`.
  No name of a sequence and no address is a label.
- Counters begin at 0 with each start of the process.
- \`snowlane_call_seconds\` is the time inside the server: from the request to the end of the answer. The time that
  bytes lie in a socket is not in it. Short calls on the HTTP/2 engine are timed together, one turn in sixteen for all
  since the one before. Their number is exact, and how they share out over the buckets is a sample.
- A call counts when it has ended, with the code that the server gave it. A caller that gives up sees its own code,
  such as DEADLINE_EXCEEDED, where the server counts CANCELLED.
`;

const tail = `
## Dashboard and alerts

- [deploy/grafana/snowlane.json](../deploy/grafana/snowlane.json) is a dashboard for Grafana: Dashboards, New, Import.
  A server in cleartext without \`--principals\` leaves two panels without data: *Certificate ends in*, and *IDs and
  values per second by principal*. *Failed calls per second* has data after the first failed call, and *Stock* while a
  sequence is in use.
- [deploy/prometheus/alerts.yaml](../deploy/prometheus/alerts.yaml) has the alerts, and
  [alerts-test.yaml](../deploy/prometheus/alerts-test.yaml) beside it their tests: \`promtool test rules\`. When you
  change a threshold, change its test as well.

A scrape of a server whose listener for operators is on loopback, by a Prometheus on the same machine:

\`\`\`yaml not run: a part of prometheus.yml
rule_files: [alerts.yaml]
scrape_configs:
  - job_name: snowlane
    static_configs: [{ targets: ["127.0.0.1:7610"] }]
\`\`\`

Over the network give the token of a principal that has the permission \`observe\`, and the authority of the server's
certificate:

\`\`\`yaml not run: a part of prometheus.yml
scrape_configs:
  - job_name: snowlane
    scheme: https
    tls_config: { ca_file: ca.pem }
    authorization: { credentials_file: snowlane-token }
    static_configs: [{ targets: ["ids-1.example:7609", "ids-2.example:7609"] }]
\`\`\`

A collector of OpenTelemetry takes the same page by its Prometheus receiver.
`;

function row(name: string, { type, labels = [], help }: Metric): string {
  const labelled = labels.map((label) => `\`${label}\``).join(", ");
  return `| \`${name}\` | ${type} | ${labelled} | ${help} |`;
}

/** The text of docs/metrics.md. */
export function metricsPage(): string {
  const rows = Object.entries<Metric>(metricTable).map(([name, metric]) => row(name, metric));
  return `${head}\n## All metrics\n\n| name | type | labels | meaning |\n| --- | --- | --- | --- |\n${rows.join("\n")}\n${tail}`;
}

if (import.meta.main) writeFileSync("docs/metrics.md", metricsPage());
