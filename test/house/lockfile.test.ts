import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface LockedPackage {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};

/**
 * A registry may hold the newest version of a tool before its builds for every platform. `npm install` passes over what
 * is missing; `npm ci` then fails with EUSAGE, for everybody. Pin the newest version whose builds are
 * all there.
 */
test("the lockfile names every platform's build of every package", () => {
  const names = new Set(Object.keys(packages).map((path) => path.split("node_modules/").at(-1)));
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !names.has(name))
      .map((name) => `${path} wants ${name}`),
  );
  expect(missing).toEqual([]);
});

test("the lockfile names no registry host", () => {
  expect(readFileSync("package-lock.json", "utf8")).not.toMatch(/"resolved": "http/);
});
