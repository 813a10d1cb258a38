import { expect, test } from "vitest";
import { SeededRandom } from "../../test/support/worlds/seeded-random.ts";
import { scale } from "../../test/support/worlds/scale.ts";
import { loadSettings, refuseProblems } from "./load-settings.ts";
import { serverSettings } from "./server-settings.ts";
import { hasPassword, redactUrl } from "./store-url.ts";

test.each([
  ["postgres://u%3AsEcr3t%40h:1/db,mysql://u:p@h/db", "postgres:***"],
  ["postgres://u&sEcr3t%40h:1/db,mysql://u:p@h/db", "postgres:***"],
  ["postgres://u:sEcr3t@h/db", "postgres://u:***@h/db"],
  ["postgres://u:s@E/c:r3t@h:5432/db?sslmode=require", "postgres://u:***@h:5432/db?sslmode=***"],
  ["redis://:sEcr3t@a:1,b:2,[::1]:3/0?replicas=1", "redis://:***@a:1,b:2,[::1]:3/0?replicas=***"],
  ["etcd://127.0.0.1:2379", "etcd://127.0.0.1:2379"],
  ["kubernetes://", "kubernetes://"],
  ["kubernetes:///team", "kubernetes:///team"],
  ["sqlite:/var/lib/u:p@x.db", "sqlite:/var/lib/u:p@x.db"],
  ["u:sEcr3t@h/db", "***"],
  ["postgres:u:sEcr3t@h/db", "postgres:***"],
  ["postgres://u:sEcr3t#h/db", "postgres:***"],
  ["postgres://h/db?password=x@sEcr3t", "postgres:***"],
  ["./ids.db", "./ids.db"],
  ["nonsense", "nonsense"],
])("%s is shown as %s", (url, shown) => {
  expect(redactUrl(url)).toBe(shown);
  // The code that shows a problem may not know whether the text was hidden before.
  expect(redactUrl(shown)).toBe(shown);
});

test("a URL with a password is distinguished from one without", () => {
  expect(["postgres://u:p@h/db", "redis://:p@h", "postgres://h/db?password=p"].map(hasPassword)).toEqual([
    true,
    true,
    true,
  ]);
  expect(["postgres://u@h/db", "etcd://h:2379", "sqlite:a:b@c.db"].map(hasPassword)).toEqual([false, false, false]);
});

/** Errors of typing and of shells: a sign is left out, doubled, or replaced by another one. */
const signs = [":", "/", "@", "#", "?", "%40", "%3A", ";", " ", "&", "=", "\\", '"', "'", "|", ".", "-", ""];

// "u:sEcr3t@h/db" and "postgres:u:sEcr3t@h/db" used to be shown whole.
test("OPERATIONS 10: no way to misspell a URL shows its password, in an error or in what a dry run prints", () => {
  const random = new SeededRandom(20261127);
  const pick = <T>(items: readonly T[]): T => random.pick(items);
  const secret = "sEcr3tPassw0rd";
  for (let round = 0; round < 10_000 * scale; round += 1) {
    const parts = [
      pick(["postgres", "mysql", "redis", "Postgres", "http", ""]),
      "://",
      pick(["u", "app", ""]),
      ":",
      secret,
    ];
    parts.push("@", pick(["h", "db.example", "[::1]", "127.0.0.1:5432"]), pick(["/db", "", "/db?sslmode=require"]));
    for (let slips = 1 + random.below(2); slips > 0; slips -= 1) {
      const at = pick([1, 3, 5]);
      parts[at] = pick([pick(signs), parts[at]! + pick(signs), pick(signs) + parts[at]!]);
    }
    const text = parts.join("");
    const name = pick(["store", "storeFile", "listen", "sequenceStores", "namespace", "hosts", "principals"]);
    const { values, problems } = loadSettings(serverSettings, { flags: { [name]: text }, environment: {} });
    const shown = [redactUrl(values.storeUrl ?? ""), ...problems.map(({ hint }) => hint)];
    try {
      if (problems.length > 0) refuseProblems(problems);
    } catch (error) {
      const { message, metadata } = error as Error & { readonly metadata: object };
      shown.push(message, JSON.stringify(metadata));
    }
    // Without a sign on either side, it could be the name of a host: postgres://app-sEcr3tPassw0rd.h/db.
    if (new RegExp(`:${secret}|${secret}(?:@|%40)`).test(text))
      expect([text, name, shown.join("\n").includes(secret)]).toEqual([text, name, false]);
  }
});

test("OPERATIONS 10: no way to misspell one of several databases of sequences shows a password", () => {
  const random = new SeededRandom(20261128);
  const pick = <T>(items: readonly T[]): T => random.pick(items);
  const secret = "sEcr3tPassw0rd";
  const urlOf = (slips: number): string => {
    const parts = [
      pick(["postgres", "mysql", "mariadb"]),
      "://",
      "app",
      ":",
      secret,
      "@",
      pick(["h", "db.example:1"]),
      "/db",
    ];
    for (let left = slips; left > 0; left -= 1) {
      const at = pick([1, 3, 4, 5]);
      parts[at] = pick([pick(signs), parts[at]! + pick(signs), pick(signs) + parts[at]!]);
    }
    return parts.join("");
  };
  for (let round = 0; round < 10_000 * scale; round += 1) {
    const urls = Array.from({ length: 1 + random.below(3) }, () => urlOf(random.below(3)));
    const text = urls.join(pick([" ", "  ", ",", "\n"]));
    const { values, problems } = loadSettings(serverSettings, { flags: { sequenceStores: text }, environment: {} });
    const { redact } = serverSettings.sequenceStores;
    const shown = [
      redact?.(values.sequenceStores ?? "") ?? "",
      ...problems.map(({ value, hint }) => `${value} ${hint}`),
    ];
    // Without a sign between user and password it could be the name of a user.
    const isPassword = urls.every((url) => new RegExp(`:${secret}|${secret}(?:@|%40)`).test(url));
    if (isPassword) expect([text, shown.join("\n").includes(secret)]).toEqual([text, false]);
  }
});
