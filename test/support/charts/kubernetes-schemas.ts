import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fetchKubernetesApi } from "../fetch/kube-apiserver.ts";
import type { ChartObject } from "./render-chart.ts";

interface Definition {
  properties?: Record<string, object>;
  additionalProperties?: unknown;
  readonly "x-kubernetes-group-version-kind"?: readonly {
    readonly group: string;
    readonly kind: string;
    readonly version: string;
  }[];
}

/**
 * Writes a JSON schema for each kind of some objects, from the description of the API that Kubernetes itself ships. An
 * object with a field that its kind does not have breaks its schema.
 *
 * @returns The value of kubeconform's `-schema-location`.
 */
export async function writeKubernetesSchemas(folder: string, objects: readonly ChartObject[]): Promise<string> {
  const { definitions } = JSON.parse(readFileSync(await fetchKubernetesApi(), "utf8")) as {
    readonly definitions: Record<string, Definition>;
  };
  for (const definition of Object.values(definitions))
    if (definition.properties !== undefined) definition.additionalProperties ??= false;
  // In OpenAPI 2 these are strings, though the server takes numbers as well.
  const prefix = "io.k8s.apimachinery.pkg";
  for (const name of [`${prefix}.util.intstr.IntOrString`, `${prefix}.api.resource.Quantity`])
    definitions[name] = { oneOf: [{ type: "string" }, { type: "number" }] } as Definition;
  for (const { apiVersion, kind } of objects) {
    const [version = "", group = ""] = apiVersion.split("/").toReversed();
    const [name] =
      Object.entries(definitions).find(([, definition]) =>
        definition["x-kubernetes-group-version-kind"]?.some(
          (one) => one.group === group && one.version === version && one.kind === kind,
        ),
      ) ?? [];
    if (name === undefined) continue;
    const schema = { $ref: `#/definitions/${name}`, definitions };
    const file = [kind, ...(group === "" ? [] : [group.split(".")[0]]), version].join("-").toLowerCase();
    writeFileSync(join(folder, `${file}.json`), JSON.stringify(schema));
  }
  return join(folder, "{{.ResourceKind}}{{.KindSuffix}}.json");
}
