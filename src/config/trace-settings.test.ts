import { expect, test } from "vitest";
import { problemsOf, valueOf } from "./resolved.ts";
import { resolveTraces } from "./trace-settings.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };

test.each([
  {},
  { OTEL_EXPORTER_OTLP_ENDPOINT: " " },
  { OTEL_SERVICE_NAME: "ids" },
  { ...endpoint, OTEL_SDK_DISABLED: "TRUE" },
  { ...endpoint, OTEL_TRACES_EXPORTER: "none" },
])("without an endpoint, or switched off, nothing is traced: %j", (environment) => {
  expect(valueOf(resolveTraces(environment))).toBeUndefined();
});

test("the name of the service is that of OTEL_SERVICE_NAME, else of the resource, else ours", () => {
  const nameOf = (environment: Readonly<Record<string, string>>) =>
    valueOf(resolveTraces({ ...endpoint, ...environment }))?.attributes["service.name"];
  expect(nameOf({})).toBe("snowlane");
  expect(nameOf({ OTEL_RESOURCE_ATTRIBUTES: "a=b,service.name=of%20resource,c,%=%" })).toBe("of resource");
  expect(nameOf({ OTEL_RESOURCE_ATTRIBUTES: "service.name=x", OTEL_SERVICE_NAME: "ids" })).toBe("ids");
});

test("all that cannot be followed is refused at once, and no URL is shown", () => {
  const problems = problemsOf(
    resolveTraces({
      OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317",
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "user:hunter2@host",
      OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json",
    }),
  );
  expect(problems.map(({ place }) => place)).toEqual([
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
  ]);
  expect(JSON.stringify(problems)).not.toContain("hunter2");
});
