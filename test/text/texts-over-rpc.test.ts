import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { type Client, Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ErrorInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import { type IdService, TextForm } from "../../src/gen/snowlane/v1/id_service_pb.ts";
import { createTextCodec } from "../../src/text/text-codec.ts";
import { type TextForm as FormName, textForms } from "../../src/text/text-form.ts";
import { foreignTexts } from "./foreign-texts.ts";
import { openTextsService, textsLayout, textsNamespace, type TextsService } from "./texts-service.ts";

const codec = createTextCodec({ layout: textsLayout, namespace: textsNamespace });
let service: TextsService;
let client: Client<typeof IdService>;

beforeAll(async () => {
  service = await openTextsService();
  client = service.client;
});

afterAll(() => service.close());

const messages = textForms.map((_, index) => (index + 1) as TextForm);
const nameOf = (form: TextForm): FormName => textForms[form - 1]!;

/** The reason that a call is refused with, and the field at fault. */
async function refusal(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    expect(ConnectError.from(error).code).toBe(Code.InvalidArgument);
    return ConnectError.from(error).findDetails(ErrorInfoSchema)[0]!.reason;
  }
  throw new Error("The call was not refused.");
}

describe("texts of new IDs", () => {
  test.each(messages)("form %i: NextId and BatchNextIds write it, Parse reads it", async (form) => {
    const typePrefix = form === TextForm.TYPED ? "order" : "";
    const textFormat = { form, typePrefix };
    const write = codec.writer({ form: nameOf(form), typePrefix });
    const { id, text } = await client.nextId({ textFormat });
    expect(text).toBe(write(id));
    let count = 0;
    for await (const { ids, texts } of client.batchNextIds({ count: 5_000n, chunkSize: 1_000, textFormat })) {
      expect(texts).toEqual(ids.map(write));
      count += ids.length;
    }
    expect(count).toBe(5_000);
    const parsed = await client.parse({ source: { case: "text", value: text }, sourceForm: form });
    expect(parsed).toMatchObject({ id, sourceForm: form });
    expect(parsed.uuid?.isSnowlane).toBe(form === TextForm.UUID ? true : undefined);
    const untyped = messages.filter((each) => each !== TextForm.TYPED);
    expect(parsed.texts.map((each) => each.form)).toEqual(form === TextForm.TYPED ? messages : untyped);
  });

  test("prefix, offset and check symbol are those that were asked for", async () => {
    const format = { form: TextForm.SERIAL_NUMBER, serialPrefix: "PAY", utcOffsetMinutes: 480 };
    const { id, text } = await client.nextId({ textFormat: format });
    expect(text).toBe(codec.writer({ form: "serial", serialPrefix: "PAY", utcOffsetMinutes: 480 })(id));
    const read = { source: { case: "text" as const, value: text }, utcOffsetMinutes: 480 };
    const said = { id, sourceForm: TextForm.SERIAL_NUMBER, sourcePrefix: "PAY" };
    expect(await client.parse(read)).toMatchObject(said);
    const checked = await client.nextId({ textFormat: { form: TextForm.BASE32, checkSymbol: true } });
    expect(checked.text).toHaveLength(14);
  });

  test("without a form there is no text", async () => {
    expect((await client.nextId({})).text).toBe("");
    expect((await client.nextId({ textFormat: {} })).text).toBe("");
    for await (const { texts } of client.batchNextIds({ count: 1n, textFormat: {} })) expect(texts).toEqual([]);
  });

  test("a format that its form cannot do is refused before an ID is drawn", async () => {
    const issued = service.worker.source.status().counters.issued;
    const formats = [
      { form: TextForm.DECIMAL, serialPrefix: "PAY" },
      { form: TextForm.SERIAL_NUMBER, serialPrefix: "pay" },
      { form: TextForm.SERIAL_NUMBER, utcOffsetMinutes: 1_081 },
      { form: TextForm.HEX, checkSymbol: true },
      { form: 99 as TextForm },
      { form: TextForm.TYPED },
      { form: TextForm.TYPED, typePrefix: "Order" },
      { form: TextForm.BASE58, typePrefix: "order" },
      { typePrefix: "order" },
      { serialPrefix: "PAY" },
      { utcOffsetMinutes: 480 },
    ];
    for (const textFormat of formats) {
      expect(await refusal(client.nextId({ textFormat }))).toBe("INVALID_TEXT_FORMAT");
      const stream = client.batchNextIds({ count: 1n, textFormat });
      expect(await refusal(stream[Symbol.asyncIterator]().next())).toBe("INVALID_TEXT_FORMAT");
    }
    expect(service.worker.source.status().counters.issued).toBe(issued);
  });
});

describe("Parse", () => {
  const parse = (value: string, rest: object = {}) => client.parse({ source: { case: "text", value }, ...rest });

  test("a UUID that holds none of our IDs sets the form and the UUID alone", async () => {
    const said = await parse("C232AB00-9414-11EC-B3C8-9F6BDECED846");
    expect(said.uuid).toMatchObject({ version: 1, variant: "rfc9562", clockSequence: 0x33c8, isSnowlane: false });
    expect(said).toMatchObject({ sourceForm: TextForm.UUID, texts: [], plausibleLayouts: [], bits: "" });
    for (const absent of [said.id, said.createTime, said.timestampTicks, said.layout]) expect(absent).toBeUndefined();
  });

  test("a UUID of the year 10889 has no time, and no call fails for it", async () => {
    expect((await parse("ffffffff-ffff-7fff-bfff-ffffffffffff")).uuid?.createTime).toBeUndefined();
  });

  test("a typed ID says its prefix, and is refused where another is expected", async () => {
    const said = await parse("order_5QoSRAifXhW");
    expect(said).toMatchObject({ id: 1_900_000_000_000_000_005n, sourceForm: TextForm.TYPED, sourcePrefix: "order" });
    expect(said.texts.at(-1)).toMatchObject({ form: TextForm.TYPED, text: "order_5QoSRAifXhW" });
    expect((await parse("order_5QoSRAifXhW", { typePrefix: "order" })).id).toBe(said.id);
    const refused: unknown = await parse("user_5QoSRAifXhW", { typePrefix: "order" }).catch((error: unknown) => error);
    const metadata = { form: "typed", reason: "prefix", position: "0" };
    expect(ConnectError.from(refused).findDetails(ErrorInfoSchema)[0]).toMatchObject({ metadata });
    expect(await refusal(parse("1900000000000000005", { typePrefix: "order" }))).toBe("MALFORMED_TEXT");
    expect(await refusal(parse("order_5QoSRAifXhW", { typePrefix: "Order" }))).toBe("INVALID_TEXT_FORMAT");
    const named = { typePrefix: "order", sourceForm: TextForm.BASE58 };
    expect(await refusal(parse("5QoSRAifXhW", named))).toBe("INVALID_TEXT_FORMAT");
  });

  test.each(foreignTexts)("$text says its kind, its time and its parts, and nothing of an ID", async (vector) => {
    const { kind, text, createTime, parts } = vector;
    const said = await parse(text);
    expect(said.foreign).toMatchObject({ kind, parts });
    expect(timestampMs(said.foreign!.createTime!)).toBe(Date.parse(createTime));
    expect(said).toMatchObject({ sourceForm: TextForm.UNSPECIFIED, texts: [], plausibleLayouts: [], bits: "" });
    for (const absent of [said.id, said.createTime, said.layout, said.uuid]) expect(absent).toBeUndefined();
    const named = { sourceForm: TextForm.BASE62 };
    expect(await refusal(parse(text, named))).toBe("MALFORMED_TEXT");
  });

  test("an ID is written at the offset that is asked for", async () => {
    const { texts } = await client.parse({
      source: { case: "id", value: 1_900_000_000_000_000_005n },
      utcOffsetMinutes: 480,
    });
    expect(texts.find(({ form }) => form === TextForm.SERIAL_NUMBER)?.text).toBe("2025031309443494909920005");
  });

  test("texts are read by another layout, and by a preset with another epoch", async () => {
    const sonyflake = await parse("2025031301162434000010127", { layout: { name: "sonyflake" } });
    expect(sonyflake).toMatchObject({ id: 557505183693602817n, workerId: 1, sequence: 127 });
    expect(sonyflake.datacenterId).toBeUndefined();
    const epochTime = timestampFromMs(1_577_836_800_000);
    const later = await parse("0x0000000000400000", { layout: { name: "twitter", epochTime } });
    expect(timestampMs(later.createTime!)).toBe(1_577_836_800_001);
    expect(later.texts.find(({ form }) => form === TextForm.SERIAL_NUMBER)?.text).toBe("2020010100000000100000000");
  });

  test("each refusal has its reason", async () => {
    expect(await refusal(client.parse({}))).toBe("MALFORMED_ID");
    expect(await refusal(client.parse({ source: { case: "id", value: 2n ** 63n } }))).toBe("MALFORMED_ID");
    expect(await refusal(parse(""))).toBe("MALFORMED_TEXT");
    expect(await refusal(parse("2GM1FU6deuj"))).toBe("AMBIGUOUS_TEXT");
    expect(await refusal(parse("0", { sourceForm: 99 }))).toBe("INVALID_TEXT_FORMAT");
    expect(await refusal(parse("0", { utcOffsetMinutes: -1_081 }))).toBe("INVALID_TEXT_FORMAT");
    expect(await refusal(parse("0", { layout: { name: "no-such" } }))).toBe("INVALID_LAYOUT");
    expect(await refusal(parse("9007199254740992", { layout: { name: "javascript" } }))).toBe("MALFORMED_ID");
  });

  test("position and reason travel in the metadata", async () => {
    const error: unknown = await parse("0x1A").catch((thrown: unknown) => thrown);
    expect(ConnectError.from(error).findDetails(ErrorInfoSchema)[0]?.metadata).toEqual({
      form: "hex",
      reason: "character",
      position: "3",
    });
  });
});
