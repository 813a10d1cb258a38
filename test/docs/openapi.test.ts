import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { beforeAll, describe, expect, test } from "vitest";
import { callExamples } from "../../tools/api/call-examples.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { runServer } from "../support/processes/running-server.ts";
import { sequencesReady } from "../support/processes/sequences-ready.ts";

/** docs/reports/openapi.json describes what a server does: by OpenAPI 3.1's schema, and by a call of each operation. */

interface Operation {
  readonly parameters?: readonly { readonly name?: string }[];
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: Reference } } };
  readonly responses: {
    readonly 200: { readonly content: { readonly "application/json": { readonly schema: Reference } } };
  };
}
interface Reference {
  readonly $ref: string;
}
interface Description {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, { readonly post: Operation; readonly get?: Operation }>>;
}

const text = readFileSync("docs/reports/openapi.json", "utf8");
/** All schemas refuse fields that they do not name, so that a field without a description is found. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, part]) => [key, closed(part)] as const);
  const isOpen = "properties" in value && !("additionalProperties" in value);
  return Object.fromEntries([...entries, ...(isOpen ? [["additionalProperties", false] as const] : [])]);
}

const description = closed(JSON.parse(text)) as Description;

/** Whether a value is what the schema of that name says; its errors otherwise. */
function check({ $ref }: Reference, value: unknown): unknown {
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { int64: true, uint64: true } });
  formats.default(ajv, ["date-time"]);
  ajv.addSchema({ $id: "openapi", ...description });
  ajv.validate(`openapi${$ref}`, value);
  return ajv.errors;
}

test("it is valid OpenAPI 3.1", async () => {
  const result = await new Validator().validate(JSON.parse(text));
  expect([result.valid, result.errors]).toEqual([true, undefined]);
  expect(description.openapi).toMatch(/^3\.1\./);
});

test("a description that is not valid is refused", async () => {
  const { paths: _, ...rest } = JSON.parse(text);
  expect((await new Validator().validate({ ...rest, paths: [] })).valid).toBe(false);
});

describe("every operation", () => {
  test("takes the request of its example, and gives what its schema says", async () => {
    const { url } = await runServer();
    await sequencesReady(url);
    const calls = Object.entries(callExamples).filter(([path]) => path in description.paths);
    expect(calls.map(([path]) => path).toSorted()).toEqual(Object.keys(description.paths).toSorted());
    for (const [path, { request, refusal }] of calls) {
      const { post, get } = description.paths[path]!;
      expect([path, check(post.requestBody!.content["application/json"].schema, request)]).toEqual([path, null]);
      const headers = { "content-type": "application/json" };
      const answers = [await fetch(url + path, { method: "POST", headers, body: JSON.stringify(request) })];
      const query = new URLSearchParams({ encoding: "json", message: JSON.stringify(request), connect: "v1" });
      if (get !== undefined) answers.push(await fetch(`${url}${path}?${query.toString()}`));
      for (const answer of answers) {
        const value: unknown = await answer.json();
        const { status, schema } =
          refusal === undefined
            ? { status: 200, schema: post.responses[200].content["application/json"].schema }
            : { status: refusal.status, schema: { $ref: "#/components/schemas/connect.Error" } };
        expect([path, answer.status, check(schema, value)]).toEqual([path, status, null]);
      }
    }
  });

  test("that fails gives what the schema of errors says", async () => {
    const { url } = await runServer();
    const body = JSON.stringify({ count: 0 });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}/snowlane.v1.IdService/ReserveIds`, { method: "POST", headers, body });
    const value: unknown = await answer.json();
    expect(value).toMatchObject({
      code: "invalid_argument",
      details: [{ debug: { reason: "COUNT_OUT_OF_RANGE" } }, {}],
    });
    expect(check({ $ref: "#/components/schemas/connect.Error" }, value)).toBeNull();
    expect(check({ $ref: "#/components/schemas/connect.Error" }, { code: "NOT_FOUND" })).not.toBeNull();
  });
});

describe("a server", () => {
  beforeAll(() => runCommand(process.execPath, ["tools/bootstrap.mjs"]));

  test("serves it at /openapi.json, to be asked for again each time", async () => {
    const { url } = await runServer();
    const answer = await fetch(`${url}/openapi.json`);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "application/json",
      "cache-control": "no-cache",
    });
    expect(await answer.text()).toBe(text);
  });
});
