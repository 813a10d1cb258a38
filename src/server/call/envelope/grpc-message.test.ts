import { expect, test } from "vitest";
import { encodeMessageField } from "./grpc-message.ts";

const spelled = (message: string): string | null =>
  encodeMessageField(new Headers({ "grpc-message": encodeURIComponent(message) })).get("grpc-message");

test("printable ASCII except the percent sign stays as it is", () => {
  const printable = Array.from({ length: 0x7f - 0x21 }, (_, index) => String.fromCharCode(0x21 + index)).join("");
  expect(spelled(printable)).toBe(printable.replace("%", "%25"));
});

test.each([
  ["a: b/c", "a: b/c"],
  ["100 % \n\u007f", "100 %25 %0A%7F"],
  ["caf\u00e9 \u{1f600}\u{1f600}", "caf%C3%A9 %F0%9F%98%80%F0%9F%98%80"],
  [" at both ends  ", "%20at both ends%20%20"],
  ["%3A", "%253A"],
  ["", ""],
])("%j is spelled %j, and reads the same again", (message, wanted) => {
  const wire = spelled(message);
  expect([wire, decodeURIComponent(wire ?? "")]).toEqual([wanted, message]);
});

test("fields without a message stay as they are", () => {
  expect([...encodeMessageField(new Headers({ "grpc-status": "0" }))]).toEqual([["grpc-status", "0"]]);
});
