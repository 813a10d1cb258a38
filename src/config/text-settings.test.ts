import { expect, test } from "vitest";
import { SettingError } from "./setting.ts";
import { readingOptions, writingOptions } from "./text-settings.ts";

test("an offset from UTC is minutes, and is written as it was read", () => {
  const { utcOffsetMinutes } = readingOptions;
  for (const [text, minutes] of [
    ["+08:00", 480],
    ["-03:30", -210],
    ["+18:00", 1_080],
    ["-18:00", -1_080],
    ["+00:00", 0],
  ] as const) {
    expect(utcOffsetMinutes.parse(text)).toBe(minutes);
    expect(utcOffsetMinutes.format(minutes)).toBe(text);
  }
  expect(Object.is(utcOffsetMinutes.parse("-00:00"), 0)).toBe(true);
  expect(utcOffsetMinutes.parse("Z")).toBe(0);
  for (const text of ["", "8", "08:00", "+8:00", "+08:60", "+18:01", "-19:00", "+0800", "\uff0b08:00", "+08:00 "]) {
    expect(() => utcOffsetMinutes.parse(text), text).toThrow(SettingError);
  }
});

test("a type prefix is a lower-case letter and up to 15 lower-case letters and digits", () => {
  for (const { typePrefix } of [readingOptions, writingOptions]) {
    expect(typePrefix.parse("a123456789abcdef")).toBe("a123456789abcdef");
    for (const text of ["", "Order", "1order", "or_der", "a123456789abcdefg"]) {
      expect(() => typePrefix.parse(text), text).toThrow(SettingError);
    }
  }
});

test("a prefix is 1 to 16 characters of A-Z and 0-9", () => {
  expect(writingOptions.serialPrefix.parse("A1B2C3D4E5F60789")).toBe("A1B2C3D4E5F60789");
  for (const text of ["", "pay", "PAY-", "A1B2C3D4E5F607890"]) {
    expect(() => writingOptions.serialPrefix.parse(text), text).toThrow(SettingError);
  }
});
