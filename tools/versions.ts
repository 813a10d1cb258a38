/**
 * Writes the version of package.json into every other place that has it, so that a release changes one line. Tests fail
 * where a place differs.
 */
import { globSync, readFileSync } from "node:fs";
import { writeChanged } from "./write-changed.ts";

/** A number of three parts, which each pattern below has as its second group. */
const number = String.raw`(\d+\.\d+\.\d+)`;

/** Files with the version, and the text around it. */
const places: readonly (readonly [files: string, before: string, after: string])[] = [
  ["src/version.ts", 'version = "', '"'],
  ["clients/typescript/package.json", '"version": "', '"'],
  ["clients/python/pyproject.toml", 'name = "snowlane-client"\nversion = "', '"'],
  ["clients/java/pom.xml", "<artifactId>snowlane-client</artifactId>\n  <version>", "<"],
  ["clients/java/src/main/java/dev/snowlane/client/ClientVersion.java", 'VERSION = "', '"'],
  ["clients/python/src/snowlane/_version.py", 'version = "', '"'],
  ["clients/go/version.go", 'version = "', '"'],
  ["clients/rust/Cargo.toml", 'name = "snowlane"\nversion = "', '"'],
  ["clients/rust/Cargo.lock", 'name = "snowlane"\nversion = "', '"'],
  ["clients/php/composer.json", '"version": "', '"'],
  ["clients/php/src/IdClient.php", "VERSION = '", "'"],
  ["clients/java/README.md", "<version>", "<"],
  ["clients/python/README.md", "dist/snowlane_client-", "-py3"],
  ["clients/typescript/README.md", "./snowlane-client-", ".tgz"],
  ["clients/java/frameworks/pom.xml", "<artifactId>snowlane-frameworks</artifactId>\n  <version>", "<"],
  ["clients/java/frameworks/*/pom.xml", "<artifactId>snowlane-frameworks</artifactId>\n    <version>", "<"],
  ["examples/hibernate/pom.xml", "<artifactId>snowlane-hibernate</artifactId>\n      <version>", "<"],
  ["examples/mybatis-plus/pom.xml", "<artifactId>snowlane-mybatis-plus</artifactId>\n      <version>", "<"],
  [
    "examples/{mybatis-plus,spring-boot}/pom.xml",
    "<artifactId>snowlane-spring-boot-starter</artifactId>\n      <version>",
    "<",
  ],
  ["examples/spring-boot/pom.xml", "<artifactId>snowlane-hibernate</artifactId>\n      <version>", "<"],
  ["README.md", "release/", "`"],
  ["README.md", "release/", "/go"],
  ["README.md", "snowlane-", ".tgz"],
  ["README.md", "snowlane-client-", "."],
  ["README.md", "snowlane_client-", "-py3"],
  ["README.md", "snowlane.dev/go@v", "\n"],
  ["docs/install.md", "snowlane-", ".tgz"],
  ["docs/install.md", "snowlane-client-", "."],
  ["docs/install.md", "snowlane_client-", "-py3"],
  ["docs/install.md", "snowlane.dev/go@v", "\n"],
  ["docs/install.md", "/release/", "/go"],
  ["docs/install.md", "/release/", "/snowlane"],
  ["docs/install.md", "snowlane-", ".crate"],
  ["docs/install.md", "./snowlane-", "\n"],
  ["docs/install.md", "snowlane-client-php-", "."],
  ["docs/install.md", "snowlane-client-php-", "\n"],
  ["docs/install.md", "snowlane-", "-linux-x64"],
  ["docs/deploying.md", "VERSION=", " "],
  ["docs/deploying.md", "snowlane:", " "],
  ["docs/deploying.md", "snowlane:", "\n"],
  ["docs/deploying.md", "snowlane:", "`"],
  ["docs/frameworks.md", "snowlane-frameworks-", ".pom"],
  ["docs/frameworks.md", "snowlane-$name-", "."],
  ["docs/frameworks.md", "the version ", ","],
  ["docs/library.md", "./snowlane-", ".tgz"],
  ["deploy/helm/snowlane/Chart.yaml", "\nversion: ", "\n"],
  ["deploy/helm/snowlane/Chart.yaml", 'appVersion: "', '"'],
  ["deploy/container/Dockerfile", "VERSION=", "\n"],
  ["deploy/container/Dockerfile", "VERSION=", " "],
  ["deploy/container/Dockerfile", "snowlane:", " "],
  ["package-lock.json", '"name": "snowlane",\n  "version": "', '"'],
  ["package-lock.json", '"name": "snowlane",\n      "version": "', '"'],
  ["package-lock.json", '"name": "@snowlane/client",\n      "version": "', '"'],
];

/** The version of this repository: that of package.json. */
export function ownVersion(): string {
  return (JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string }).version;
}

/**
 * The files that name the version, by path, as they should be.
 *
 * @throws Error for a place where no version was found.
 */
export function filesWithVersion(version: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const [files, before, after] of places) {
    const paths = globSync(files);
    if (paths.length === 0) throw new Error(`There is no file ${files}, which should have the version.`);
    for (const path of paths) {
      const text = texts.get(path) ?? readFileSync(path, "utf8");
      const pattern = new RegExp(`(${escape(before)})${number}(?=${escape(after)})`, "g");
      if (!pattern.test(text)) throw new Error(`${path} has no version behind ${JSON.stringify(before)}.`);
      texts.set(path, text.replaceAll(pattern, `$1${version}`));
    }
  }
  return texts;
}

function escape(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

if (import.meta.main) writeChanged(filesWithVersion(ownVersion()));
