import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { examples } from "../examples/example-programs.ts";

/** The versions of the table in docs/frameworks.md are those that the tests run. */
const textOf = (path: string): string => readFileSync(path, "utf8");
const modules = "clients/java/frameworks/pom.xml";

/** What a pattern finds in a file: a version, of which the table has the first two numbers. */
function found(path: string, pattern: RegExp): string {
  const [, version = ""] = pattern.exec(textOf(path)) ?? [];
  expect(version, `${path} ${pattern}`).toMatch(/^\d+\.\d+/);
  return version;
}

const property = (path: string, name: string): string => found(path, new RegExp(`<${name}>(.+)</${name}>`));
const npm = (name: string, dependency: string): string =>
  found(`examples/${name}/package.json`, new RegExp(`"${dependency}": "(.+)"`));
const pip = (name: string): string => found(`examples/${name}/requirements.txt`, new RegExp(`^${name}==(.+)$`, "m"));
/** The other versions that an example is run with. */
const others = (name: string): readonly string[] =>
  examples.flatMap((example) => {
    const [of, version] = example.name.split(" ");
    return of === name && version !== undefined ? [version] : [];
  });
const debian = (name: string): string => found("test/support/fetch/tools.ts", new RegExp(`"${name}",\\s+"(.+)"`));

const tried: Readonly<Record<string, readonly string[]>> = {
  "Spring Boot": [property("examples/spring-boot/pom.xml", "spring-boot.version"), ...others("spring-boot")],
  Hibernate: [property("examples/hibernate/pom.xml", "hibernate.version"), ...others("hibernate")],
  "MyBatis-Plus": [
    property(modules, "mybatis-plus.version"),
    property("examples/mybatis-plus/pom.xml", "spring-boot.version"),
  ],
  Jackson: [property(modules, "jackson2.version"), property(modules, "jackson3.version")],
  Django: [pip("django"), ...others("django")],
  SQLAlchemy: [pip("sqlalchemy"), ...others("sqlalchemy")],
  "Prisma, Drizzle, TypeORM": [
    npm("prisma", "@prisma/client"),
    npm("drizzle", "drizzle-orm"),
    npm("typeorm", "typeorm"),
  ],
  GORM: [found("examples/gorm/go.mod", /gorm\.io\/gorm v(.+)/)],
  "PHP-FPM": [debian("php8.2-fpm"), debian("php8.2-apcu")],
  Rust: [
    found("clients/rust/Cargo.toml", /^rust-version = "(.+)"$/m),
    found("clients/rust/Cargo.toml", /^tonic = .*?"(.+?)"/m),
  ],
};

test("each version that docs/frameworks.md says is tried is one that a test runs, and the other way round", () => {
  const [, table = ""] = textOf("docs/frameworks.md").split("\n## Supported versions\n");
  const rows = [...table.split("\n## ")[0]!.matchAll(/^\| ([^|]+) \| ([^|]+) \| `.*$/gm)];
  expect(rows.map(([, name]) => name)).toEqual(Object.keys(tried));
  for (const [, name = "", cell = ""] of rows) {
    // What it runs on, and the Rust of the machine, are not pinned.
    const said = cell.replace(/on Java \d+|tried with [\d.]+/, "").match(/\d+\.\d+/g);
    expect([name, said?.toSorted()]).toEqual([
      name,
      tried[name]!.map((version) => /\d+\.\d+/.exec(version)![0]).toSorted(),
    ]);
  }
});
