import type { SettingProblem } from "./load-settings.ts";
import type { Resolved } from "./resolved.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The part of each trace that the environment specifies for this process. */
export interface TraceSettings {
  /** The attributes of the resource: `service.name` and those of OTEL_RESOURCE_ATTRIBUTES. */
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * Reads whether calls are traced, by the standard variables of OpenTelemetry: an endpoint of OTLP asks for it.
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 *
 * @returns undefined where nothing is traced.
 */
export function resolveTraces(environment: Environment): Resolved<TraceSettings | undefined> {
  const given = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const isOff = given("OTEL_SDK_DISABLED")?.toLowerCase() === "true" || given("OTEL_TRACES_EXPORTER") === "none";
  const endpoints = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"].filter(
    (name) => given(name) !== undefined,
  );
  if (isOff || endpoints.length === 0) return { kind: "good", value: undefined };
  const problems: SettingProblem[] = [];
  for (const name of endpoints) {
    const protocol = URL.parse(given(name)!)?.protocol;
    // The text is not shown, because it may have a password.
    if (protocol !== "http:" && protocol !== "https:") {
      problems.push({ place: name, hint: "Give the URL of a receiver, such as http://localhost:4318." });
    }
  }
  for (const name of ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"]) {
    const value = given(name);
    if (value === undefined || value === "http/protobuf") continue;
    problems.push({ place: name, value, hint: "Give http/protobuf, or leave it out: no other protocol is supported." });
  }
  if (problems.length > 0) return { kind: "bad", problems };
  const attributes = readAttributes(given("OTEL_RESOURCE_ATTRIBUTES") ?? "");
  const name = given("OTEL_SERVICE_NAME") ?? attributes["service.name"] ?? "snowlane";
  return { kind: "good", value: { attributes: { ...attributes, "service.name": name } } };
}

/** `key=value,key=value`, percent-encoded. Malformed pairs are ignored, as the specification says. */
function readAttributes(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(",").flatMap((pair) => {
    const [key = "", ...rest] = pair.split("=");
    if (key.trim() === "" || rest.length === 0) return [];
    const value = rest.join("=").trim();
    try {
      return [[key.trim(), decodeURIComponent(value)] as const];
    } catch {
      return [[key.trim(), value] as const];
    }
  });
  return Object.fromEntries(pairs);
}
