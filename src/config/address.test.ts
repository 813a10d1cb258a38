import { expect, test } from "vitest";
import { address } from "./address.ts";
import { SettingError } from "./setting.ts";

const listen = address({ name: "listen", doc: "An address." });

test.each(["127.0.0.1:7609", "[::1]:0", "0.0.0.0:65535", "ids-1.example.com:80", "localhost:1", "my_host:7"])(
  "%s is read, and written as it was",
  (text) => {
    expect(listen.format(listen.parse(text))).toBe(text);
  },
);

test.each([
  "7609",
  ":7609",
  "+99:99",
  "*:7609",
  "-a:1",
  "a b:1",
  "::1:7609",
  "[::1]",
  "host:65536",
  "http://a:1",
  "a%2f:1",
])("%s is not an address", (text) => {
  expect(() => listen.parse(text)).toThrow(SettingError);
});
