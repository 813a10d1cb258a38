/** The dashboard and the alerts: by promtool, by the table of metrics, and by a real Prometheus on a real server. */
import { readFileSync } from "node:fs";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { loadCommands } from "../../src/cli/commands.ts";
import { formatAddress } from "../../src/config/address.ts";
import { serverSettings } from "../../src/config/server-settings.ts";
import { IdService } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { SequenceService } from "../../src/gen/snowlane/v1/sequence_service_pb.ts";
import { type Metric, metricTable } from "../../src/server/metrics/metric-table.ts";
import { findTool } from "../support/fetch/tools.ts";
import { makeCertificates } from "../support/processes/certificates.ts";
import { scrapeText } from "../support/metrics/scrape.ts";
import { bearer, principalsFile } from "../support/processes/principals-file.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { runServer } from "../support/processes/running-server.ts";
import { startPrometheus } from "../support/servers/prometheus-server.ts";

const alertsFile = "deploy/prometheus/alerts.yaml";
const alertsTest = "deploy/prometheus/alerts-test.yaml";

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly id: number;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: unknown;
  readonly targets?: readonly { readonly expr: string; readonly refId: string; readonly datasource: unknown }[];
}

const { panels, templating } = JSON.parse(readFileSync("deploy/grafana/snowlane.json", "utf8")) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
};
const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const));
const { groups } = parse(readFileSync(alertsFile, "utf8")) as {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly annotations: { readonly runbook?: string };
    }[];
  }[];
};
const alerts = groups.flatMap(({ rules }) => rules);
const { tests } = parse(readFileSync(alertsTest, "utf8")) as {
  readonly tests: readonly {
    readonly input_series: readonly { readonly series: string }[];
    readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
  }[];
};

/** The names of a histogram's lines, and of every other metric's. */
const lineNames = new Map(
  Object.entries<Metric>(metricTable).flatMap(([name, { type, labels = [] }]) => {
    const suffixes = type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
    const labelsOf = (suffix: string): readonly string[] => (suffix === "_bucket" ? [...labels, "le"] : labels);
    return suffixes.map((suffix) => [`${name}${suffix}`, labelsOf(suffix)] as const);
  }),
);

/** The names and labels of an expression that no scrape has. */
function unknownIn(expression: string): readonly string[] {
  const names = [...expression.matchAll(/\b(?:snowlane|process|nodejs)_\w+/g)].map(([name]) => name);
  const matchers = [...expression.matchAll(/\b((?:snowlane|process|nodejs)_\w+)\{([^}]*)\}/g)];
  const labels = matchers.flatMap(([, name, inner]) =>
    [...inner!.matchAll(/(\w+)(?:=~|!~|!=|=)/g)]
      .map(([, label]) => label!)
      .filter((label) => label !== "instance" && label !== "job" && lineNames.get(name!)?.includes(label) !== true)
      .map((label) => `${name}{${label}}`),
  );
  return [...names.filter((name) => !lineNames.has(name)), ...labels];
}

test("the dashboard and the alerts name only metrics and labels that exist", () => {
  expect(queries.length).toBeGreaterThan(20);
  expect(panels.filter(({ type, targets = [] }) => type !== "row" && targets.length === 0)).toEqual([]);
  expect(queries.flatMap(([title, query]) => unknownIn(query).map((name) => `${title}: ${name}`))).toEqual([]);
  expect(alerts.flatMap(({ alert, expr }) => unknownIn(expr).map((name) => `${alert}: ${name}`))).toEqual([]);
  const series = tests.flatMap(({ input_series }) => input_series.map((input) => input.series));
  expect(series.flatMap(unknownIn)).toEqual([]);
  expect(unknownIn('rate(snowlane_call_seconds{method="x"}[5m]) + snowlane_serving{method="x"}')).toEqual([
    "snowlane_call_seconds",
    "snowlane_call_seconds{method}",
    "snowlane_serving{method}",
  ]);
});

test("the dashboard is in the form that Grafana imports: each panel in a place of its own, asking the Prometheus that is chosen", () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, cell) => [x + (cell % w), y + Math.floor(cell / w)] as const),
  );
  expect(new Set(cells.map(([x, y]) => `${x} ${y}`)).size).toBe(cells.length);
  expect(Math.max(...cells.map(([x]) => x))).toBeLessThan(24);
  expect(templating.list.find(({ name }) => name === "datasource")).toMatchObject({ query: "prometheus" });
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the file.
  const chosen = { type: "prometheus", uid: "${datasource}" };
  for (const { type, title, datasource, targets = [] } of panels) {
    if (type === "row") continue;
    expect([title, type]).toEqual([title, expect.stringMatching(/^(stat|timeseries|table)$/)]);
    for (const source of [datasource, ...targets.map((target) => target.datasource)]) expect(source).toEqual(chosen);
    expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
  }
});

test("each alert is quiet in one test of promtool, and fires in another", async () => {
  const promtool = await findTool("promtool");
  const run = (...args: readonly string[]): Promise<string> => runCommand(promtool.path, args, { env: promtool.env });
  expect(await run("check", "rules", alertsFile)).toContain(`SUCCESS: ${alerts.length} rules found`);
  expect(await run("test", "rules", alertsTest)).toContain("SUCCESS");
  const outcomes = tests.flatMap(({ alert_rule_test }) =>
    alert_rule_test.map(({ alertname, exp_alerts }) => `${alertname} ${exp_alerts.length}`),
  );
  // An alert may have further tests.
  expect([...new Set(outcomes)].toSorted()).toEqual(
    alerts.flatMap(({ alert }) => [`${alert} 0`, `${alert} 1`]).toSorted(),
  );
});

// The alert on the lead waited for a second, and a lead ends at --burst, 10 ms.
test("OPERATIONS 12: a limit of an alert that stands for a default follows it: --burst, and the memory that the chart gives", () => {
  const expressionOf = (name: string): string => alerts.find(({ alert }) => alert === name)!.expr;
  const burstSeconds = serverSettings.burstMs.fallback / 1_000;
  expect(expressionOf("SnowlaneLead")).toBe(`snowlane_lead_seconds > 0.8 * ${burstSeconds}`);
  const { resources } = parse(readFileSync("deploy/helm/snowlane/values.yaml", "utf8")) as {
    readonly resources: { readonly limits: { readonly memory: string } };
  };
  const [, megabytes = ""] = /^(\d+)Mi$/.exec(resources.limits.memory)!;
  expect(expressionOf("SnowlaneMemoryHigh")).toMatch(new RegExp(`> 0\\.85 \\* ${megabytes} \\* 1024 \\* 1024$`));
});

test("a command that an alert names is one of the program", async () => {
  const names = new Set((await loadCommands()).map(({ name }) => name));
  const named = [
    ...readFileSync(alertsFile, "utf8").matchAll(/\bsnowlane ((?:workers|sequences|store)\b(?: [a-z]+)?)/g),
  ];
  expect(named.map(([, name = ""]) => name).filter((name) => !names.has(name))).toEqual([]);
  expect(named.length).toBeGreaterThan(1);
});

// No alert fired when a server was dead.
test("OPERATIONS 12: each question of docs/operations.md has its alerts, and each alert a section there", () => {
  const page = readFileSync("docs/operations.md", "utf8");
  const [, table = ""] = page.split("| question | metric | look when | alert |\n");
  const rows = table.split("\n\n")[0]!.split("\n").slice(1);
  const named = rows.map((row) =>
    [
      ...row
        .split("|")
        .at(-2)!
        .matchAll(/`(Snowlane\w+)`/g),
    ].map(([, name]) => name!),
  );
  expect(named.filter((names) => names.length === 0)).toEqual([]);
  expect(named.flat().toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
  const anchors = new Set(
    [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w -]/g, "")
        .replaceAll(" ", "-"),
    ),
  );
  const lost = alerts.filter(({ annotations: { runbook = "" } }) => {
    const [, anchor = ""] = /^docs\/operations\.md#(.+)$/.exec(runbook) ?? [];
    return !anchors.has(anchor);
  });
  expect(lost.map(({ alert }) => alert)).toEqual([]);
});

test("docs/metrics.md names the panels that a server in cleartext without principals leaves empty", async () => {
  const { url } = await runServer();
  const sequences = createClient(SequenceService, createGrpcTransport({ baseUrl: url }));
  await sequences.createSequence({ sequence: { name: "orders" } });
  const empty = async (): Promise<readonly string[]> => {
    for await (const _ of sequences.batchNextValues({ name: "orders", count: 500n }));
    const text = await scrapeText(url);
    const inScrape = (query: string): boolean =>
      [...query.matchAll(/\b(?:snowlane|process|nodejs)_\w+/g)].every(([name]) => text.includes(`\n${name}`));
    return queries.filter(([, query]) => !inScrape(query)).map(([title]) => title);
  };
  const expected = ["Certificate ends in", "IDs and values per second by principal"];
  await expect.poll(empty).toEqual(expected);
  const page = readFileSync("docs/metrics.md", "utf8").replaceAll(/\s+/g, " ");
  expect(page).toContain(expected.map((title) => `*${title}*`).join(", and "));
});

test("on a running server every panel is filled, and Prometheus evaluates every alert", async () => {
  const certificates = await makeCertificates();
  onTestFinished(() => certificates.remove());
  const { certFile, keyFile } = certificates.server;
  const principals = principalsFile([{ name: "shop", permissions: ["all"] }]).path;
  const { address, server } = await runServer({
    tlsCert: certFile,
    tlsKey: keyFile,
    principals,
    adminListen: "127.0.0.1:0",
  });
  const { caFile } = certificates;
  const instance = formatAddress(server.adminAddress!);
  const prometheus = await startPrometheus({ address: instance, caFile, ruleFiles: [alertsFile] });
  onTestFinished(() => prometheus.stop());
  const nodeOptions = { ca: readFileSync(caFile) };
  const transport = createGrpcTransport({ baseUrl: `https://${address}`, nodeOptions });
  const [ids, sequences] = [createClient(IdService, transport), createClient(SequenceService, transport)];
  const headers = bearer("shop");
  await sequences.createSequence({ sequence: { name: "orders" } }, { headers });
  const emptyPanels = async (): Promise<readonly string[]> => {
    await ids.nextId({}, { headers });
    await ids.nextId({}).catch(() => undefined);
    for await (const _ of sequences.batchNextValues({ name: "orders", count: 500n }, { headers }));
    const filled = queries.map(async ([title, query]) => {
      const expression = query.replaceAll("$__rate_interval", "30s").replaceAll("$instance", instance);
      const found = await prometheus.query(expression);
      // A quantile of no call is a series of NaN, which Grafana does not draw.
      return found.some(({ value: [, value] }) => Number.isFinite(Number(value))) ? [] : [title];
    });
    return (await Promise.all(filled)).flat();
  };
  await expect.poll(emptyPanels, { timeout: 120_000, interval: 500 }).toEqual([]);
  // The servers to choose from, above the panels.
  const { definition = "" } = templating.list.find(({ name }) => name === "instance")!;
  const [, metric = "", label = ""] = /^label_values\((\w+), (\w+)\)$/.exec(definition) ?? [];
  expect((await prometheus.query(metric)).map(({ metric: labels }) => labels[label])).toEqual([instance]);
  const expected = new Map(alerts.map(({ alert }) => [alert, "ok"]));
  await expect.poll(() => prometheus.alerts()).toEqual(expected);
});
