import { expect, test } from "vitest";
import { SnowlaneError } from "./errors.ts";
import { connect, startServer } from "../test/scripted-client.ts";
import { createTextCodec, idRange, idToString, parseId, presetLayout, PublicId } from "./offline.ts";

const key = Uint8Array.from({ length: 32 }, (_, index) => index);

test("a public ID refuses what is not an ID by this package's error, and a short key by the language's", () => {
  const publicIds = new PublicId(key);
  for (const id of [-1n, 2n ** 63n]) {
    for (const call of [() => publicIds.hide(id), () => publicIds.reveal(id)]) {
      expect(call).toThrow(SnowlaneError);
      expect(call).toThrow(expect.objectContaining({ reason: "MALFORMED_ID", code: "INVALID_ARGUMENT" }));
    }
  }
  expect(() => new PublicId(key.subarray(0, 15))).toThrow(RangeError);
});

test.each([[1.5e18], [Number.NaN], [null], [undefined], [[1]]])(
  "%s is refused as an ID and as a time in one sentence, and no server is asked",
  async (value) => {
    const layout = presetLayout("twitter");
    const [codec, publicIds] = [createTextCodec(layout), new PublicId(key)];
    const wrong = value as never;
    const isNoId = / is not an ID, because .*: give a bigint, or read the ID as text\.$/;
    const isNoTime = / is not a time: give a Date, or Unix nanoseconds as a bigint\.$/;
    const calls = [
      () => parseId(layout, wrong),
      () => idToString(wrong),
      () => codec.write(wrong, { form: "hex" }),
      () => publicIds.hide(wrong),
      () => publicIds.reveal(wrong),
    ];
    for (const call of calls) expect(call).toThrow(isNoId);
    for (const call of [() => idRange(layout, wrong, 5n), () => idRange(layout, 5n, wrong)])
      expect(call).toThrow(isNoTime);
    const server = await startServer();
    const client = connect([server]);
    await expect(client.parse(wrong)).rejects.toThrow(isNoId);
    await expect(client.format(wrong, { form: "hex" })).rejects.toThrow(isNoId);
    await expect(client.idRange(wrong, 5n)).rejects.toThrow(isNoTime);
    expect(server.calls).toEqual([]);
  },
);
