/** What {@link billOfMaterials} needs to know of a release. */
interface Release {
  /** Of the package: `snowlane`, or another that contains more. */
  readonly name: string;
  readonly version: string;
  /** Of the commit, in hex. */
  readonly commit: string;
  /** When the commit was made, as ISO 8601 in UTC: a list that is made twice has the same bytes. */
  readonly createTime: string;
  /** The text of THIRD_PARTY_NOTICES, which the bundler writes from what it really bundled. */
  readonly notices: string;
}

/** Lists the packages whose code is in a package of ours, as SPDX 2.3 in JSON. */
export function billOfMaterials({ name, version, commit, createTime, notices }: Release): string {
  const bundled = bundledPackages(notices);
  const own = packageEntry(name, version, "Apache-2.0");
  const document = {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: `${name}-${version}`,
    documentNamespace: `https://snowlane.dev/spdx/${name}-${version}-${commit}`,
    creationInfo: { created: createTime, creators: ["Tool: npm run release"] },
    packages: [own, ...bundled.map(({ name, version, license }) => packageEntry(name, version, license))],
    relationships: [
      relation("SPDXRef-DOCUMENT", "DESCRIBES", own.SPDXID),
      ...bundled.map(({ name }) => relation(own.SPDXID, "CONTAINS", idOf(name))),
    ],
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** The packages that the notices name, each by the three lines at the head of its section. */
function bundledPackages(notices: string): readonly { name: string; version: string; license: string }[] {
  const sections = notices.split(/^-{100}$/m).slice(1);
  return sections.map((section) => {
    const [, name, version, license] = /^(\S+) (\S+)\n(.+)\n/.exec(section.trim()) ?? [];
    if (name === undefined || version === undefined || license === undefined)
      throw new Error("THIRD_PARTY_NOTICES has a section without name, version and licence.");
    // npm packages name two licences as SPDX does, in brackets.
    return { name, version, license: license.replace(/^\((.*)\)$/, "$1") };
  });
}

const idOf = (name: string): string => `SPDXRef-Package-${name.replaceAll(/[^A-Za-z0-9.-]+/g, "-")}`;

function packageEntry(name: string, version: string, license: string) {
  return {
    SPDXID: idOf(name),
    name,
    versionInfo: version,
    downloadLocation: "NOASSERTION",
    filesAnalyzed: false,
    licenseConcluded: license,
    licenseDeclared: license,
    copyrightText: "NOASSERTION",
    externalRefs: [
      {
        referenceCategory: "PACKAGE-MANAGER",
        referenceType: "purl",
        referenceLocator: `pkg:npm/${name.replace("@", "%40")}@${version}`,
      },
    ],
  };
}

function relation(from: string, relationshipType: string, to: string) {
  return { spdxElementId: from, relationshipType, relatedSpdxElement: to };
}
