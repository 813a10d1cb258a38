import { toJson } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ParseResponseSchema } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { layouts, type PresetName } from "../../src/snowflake/presets.ts";
import { type ParsedSource, parseSource } from "../../src/text/parse-source.ts";
import { createTextCodec } from "../../src/text/text-codec.ts";
import { textForms } from "../../src/text/text-form.ts";
import { runSnowlane } from "./run-snowlane.ts";
import { openTextsService, textsNamespace, type TextsService } from "./texts-service.ts";

/** The documented parts of a text. Times are RFC 3339. */
interface Documented {
  readonly source: string;
  readonly text: string;
  readonly layout: PresetName;
  readonly utcOffsetMinutes?: number;
  readonly said: {
    readonly form: string;
    readonly id?: string;
    readonly time?: string;
    readonly fields?: readonly (number | undefined)[];
    readonly uuid?: object;
  };
}

const documented: readonly Documented[] = [
  {
    source:
      "a tweet: https://en.wikipedia.org/wiki/Snowflake_ID (time, machine 378 = datacenter 11, worker 26; sequence 0)",
    text: "1541815603606036480",
    layout: "twitter",
    said: { form: "decimal", id: "1541815603606036480", time: "2022-06-28T16:07:40.105Z", fields: [11, 26, 0] },
  },
  {
    source:
      "a Discord ID: https://discord.com/developers/docs/reference#snowflakes (time, worker 1, process 0, increment 7)",
    text: "175928847299117063",
    layout: "discord",
    said: { form: "decimal", id: "175928847299117063", time: "2016-04-30T11:18:25.796Z", fields: [1, 0, 7] },
  },
  {
    source: "a serial number as docs/text-forms.md has it: 09:44:34.949 at +08:00, worker 31 * 32 + 0, sequence 5",
    text: "PAY2025031309443494909920005",
    layout: "twitter",
    utcOffsetMinutes: 480,
    said: { form: "serial", id: "1900000000000000005", time: "2025-03-13T01:44:34.949Z", fields: [31, 0, 5] },
  },
  {
    source: "a UUID of version 1: RFC 9562 appendix A.1",
    text: "C232AB00-9414-11EC-B3C8-9F6BDECED846",
    layout: "twitter",
    said: {
      form: "uuid",
      uuid: {
        version: 1,
        variant: "rfc9562",
        createTime: "2022-02-22T19:22:22Z",
        clockSequence: 0x33c8,
        node: "9f:6b:de:ce:d8:46",
        isSnowlane: false,
      },
    },
  },
  {
    source: "a UUID of version 7: RFC 9562 appendix A.6",
    text: "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",
    layout: "twitter",
    said: {
      form: "uuid",
      uuid: { version: 7, variant: "rfc9562", createTime: "2022-02-22T19:22:22Z", isSnowlane: false },
    },
  },
  {
    source: "a UUID of version 7 that holds an ID: docs/text-forms.md",
    text: createTextCodec({ layout: layouts.twitter, namespace: textsNamespace }).writer({ form: "uuid" })(
      1_900_000_000_000_000_005n,
    ),
    layout: "twitter",
    said: {
      form: "uuid",
      id: "1900000000000000005",
      time: "2025-03-13T01:44:34.949Z",
      fields: [31, 0, 5],
      uuid: { version: 7, variant: "rfc9562", createTime: "2025-03-13T01:44:34.949Z", isSnowlane: true },
    },
  },
];

/** RFC 3339 without the zeros that say nothing: protobuf's JSON and ours differ in them. */
function shortTime(time: string | undefined): string | undefined {
  return time?.replace(/\.?0+Z$/, "Z");
}

function ofLibrary({ format, parsed, uuid }: ParsedSource): Documented["said"] {
  const iso = (ns: bigint): string => new Date(Number(ns / 1_000_000n)).toISOString();
  const { createTimeNs, ...rest } = uuid ?? {};
  return {
    form: format!.form,
    ...(parsed === undefined
      ? {}
      : {
          id: String(parsed.id),
          time: iso(parsed.createTimeNs),
          fields: [parsed.datacenterId, parsed.workerId, parsed.sequence],
        }),
    ...(uuid === undefined
      ? {}
      : {
          uuid: {
            ...rest,
            ...(createTimeNs === undefined ? {} : { createTime: shortTime(iso(createTimeNs)) }),
            isSnowlane: parsed !== undefined,
          },
        }),
  };
}

/** What the Parse call and `snowlane parse --json` say, in the names that they share. */
interface SharedJson {
  readonly id?: string;
  readonly createTime?: string;
  readonly datacenterId?: number;
  readonly workerId?: number;
  readonly sequence?: number;
  readonly uuid?: { readonly createTime?: string; readonly isSnowlane?: boolean };
}

function ofJson(form: string, json: SharedJson): Documented["said"] {
  const { id, createTime, datacenterId, workerId, sequence, uuid } = json;
  return {
    form,
    ...(id === undefined ? {} : { id, time: shortTime(createTime)!, fields: [datacenterId, workerId, sequence] }),
    ...(uuid === undefined
      ? {}
      : {
          uuid: {
            isSnowlane: false,
            ...uuid,
            ...(uuid.createTime === undefined ? {} : { createTime: shortTime(uuid.createTime) }),
          },
        }),
  };
}

describe("over library, RPC and command line alike", () => {
  let service: TextsService;
  beforeAll(async () => {
    service = await openTextsService();
  });
  afterAll(() => service.close());

  test.each(documented)("$source", async ({ text, layout, utcOffsetMinutes = 0, said }) => {
    const wanted = { ...said, ...(said.uuid === undefined ? {} : { uuid: { ...said.uuid } }) };
    const codec = createTextCodec({ layout: layouts[layout], namespace: textsNamespace });
    const read = parseSource(codec, text, { utcOffsetMinutes, nowMs: Date.now() });
    expect(ofLibrary(read)).toEqual(wanted);

    const response = await service.client.parse({
      source: { case: "text", value: text },
      layout: { name: layout },
      utcOffsetMinutes,
    });
    const form = textForms[response.sourceForm - 1]!;
    expect(ofJson(form, toJson(ParseResponseSchema, response) as SharedJson)).toEqual(wanted);

    const flags = ["--json", "--namespace", textsNamespace, "--layout", layout];
    const offset = utcOffsetMinutes === 480 ? ["--offset", "+08:00"] : [];
    const run = await runSnowlane(["parse", ...flags, ...offset, text]);
    expect(run).toMatchObject({ exitCode: 0, stderr: "" });
    const printed = JSON.parse(run.stdout) as SharedJson & { readonly form: string };
    expect(ofJson(printed.form, printed)).toEqual(wanted);
  });
});
