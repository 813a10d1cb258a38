import { expect, test } from "vitest";
import { IdError } from "../../errors.ts";
import { inField, RequestError } from "./request-error.ts";

const refuse = (error: Error) => (): never => {
  throw error;
};

test("an error of ours becomes one of the field that was read", () => {
  const read = (): never => inField("layout", refuse(new IdError("INVALID_LAYOUT", "No.")));
  expect(read).toThrow(RequestError);
  expect(read).toThrow(expect.objectContaining({ field: "layout", reason: "INVALID_LAYOUT", message: "No." }));
});

test("the field that was named first stays", () => {
  const inner = refuse(new RequestError("INVALID_LAYOUT", "layout.tick", "No."));
  expect(() => inField("layout", inner)).toThrow(expect.objectContaining({ field: "layout.tick" }));
});

test("an unforeseen error stays as it is", () => {
  const error = new TypeError("no");
  expect(() => inField("layout", refuse(error))).toThrow(error);
});
