import { expect, test } from "vitest";
import { origins } from "./origins.ts";
import { SettingError } from "./setting.ts";

const setting = origins({ name: "corsOrigin", doc: "" });

test("whole origins are taken, and those with a star in the first label of three or more", () => {
  const texts = [
    "https://app.example.com",
    "http://localhost:5173",
    "https://*.example.com",
    "https://pr-*.a.dev:8443",
  ];
  expect(setting.parse(texts.join(", "))).toEqual(texts);
  expect(setting.parse("none")).toEqual([]);
});

test.each([
  "*",
  "https://*",
  "https://*.com",
  "https://*:443",
  "https://*-*.example.com",
  "https://**.example.com",
  "https://app.*.com",
  "https://app.example.*",
  "*://app.example.com",
  "https://*.example.com/",
  "https://*.Example.com",
  "https://*.example.com:443",
  "https://app.example.com/",
  "ftp://app.example.com",
  "app.example.com",
  "",
])("%j is not an origin", (text) => {
  expect(() => setting.parse(text)).toThrow(SettingError);
});
