import { expect, test } from "vitest";
import { GatheredBytes } from "./gathered-bytes.ts";

test("pieces that are kept or copied, in any order, make one text, and no piece is written to", () => {
  for (const order of ["kc", "kk", "ck", "cc", "kckk"]) {
    const gathered = new GatheredBytes();
    const pieces = Array.from(order, (_, index) => Buffer.from(`-piece ${index}-`));
    pieces.forEach((piece, index) => {
      if (order[index] === "k") gathered.keep(piece);
      else gathered.append(piece, 0, piece.length);
    });
    const whole = pieces.map((_, index) => `-piece ${index}-`).join("");
    expect(gathered.bytes.toString()).toBe(whole);
    expect(pieces.map(String).join("")).toBe(whole);
    expect(gathered.take().toString()).toBe(whole);
    gathered.keep(Buffer.from("next"));
    expect(gathered.bytes.toString()).toBe("next");
  }
});

test("a piece that is kept is not copied, and one that is copied may change afterwards", () => {
  const [kept, copied] = [new GatheredBytes(), new GatheredBytes()];
  const bytes = Buffer.from("abc");
  kept.keep(bytes);
  copied.append(bytes, 0, 3);
  bytes[0] = 0x78;
  expect([kept.bytes.toString(), copied.bytes.toString()]).toEqual(["xbc", "abc"]);
});
