import { globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, matchesGlob, posix } from "node:path";
import { placeholder, repositoryAddress } from "../repository-address.ts";

/** Pages that are read where no other page is: a registry shows them, or their package has no other. */
const lonePages: readonly string[] = [
  "README.md",
  "CHANGELOG.md",
  ...["go", "php", "python", "rust", "typescript"].map((client) => `clients/${client}/README.md`),
];

/** A line with a remedy where a release would lead nowhere, because package.json names the placeholder. */
export function repositoryProblems(root: string): readonly string[] {
  if (repositoryAddress(root) !== placeholder) return [];
  return [
    `package.json names ${placeholder}, so links of the packages' pages would be dead: write the address of the ` +
      "repository into its `repository`, and run npm run generate.",
  ];
}

/**
 * Makes the pages of all packages lead into the repository at the tag of a version, where a relative link would be
 * dead: the package does not have the file that it names, or a registry shows the page by itself. docs/adr/0229
 */
export function linkPackedPages(root: string, version: string): void {
  const place = { address: repositoryAddress(root), tag: `v${version}` };
  const isPacked = packedBeside(root);
  const docs = globSync("docs/*.md", { cwd: root });
  for (const path of [...lonePages, ...docs]) {
    const page = readFileSync(join(root, path), "utf8");
    const isBeside = docs.includes(path) ? isPacked : () => false;
    writeFileSync(join(root, path), linkPage(page, { ...place, folder: dirname(path), isBeside }));
  }
}

/** Whether a path is one of a pattern of package.json, or below it. */
const matches = (path: string, pattern: string): boolean =>
  matchesGlob(path, pattern) || matchesGlob(path, `${pattern}/**`);

/** Tells which files the package of the server has, by their paths from its root: those of `files` of package.json. */
function packedBeside(root: string): (path: string) => boolean {
  const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly files: readonly string[];
  };
  // npm packs these whatever `files` says.
  const wanted = ["README.md", "LICENSE", "package.json", ...files.filter((pattern) => !pattern.startsWith("!"))];
  const left = files.filter((pattern) => pattern.startsWith("!")).map((pattern) => pattern.slice(1));
  return (path) => wanted.some((pattern) => matches(path, pattern)) && !left.some((pattern) => matches(path, pattern));
}

/** Where a page is, and where its repository is. */
interface PagePlace {
  readonly address: string;
  /** Of the page, from the root of the repository. */
  readonly folder: string;
  readonly tag: string;
  /** Whether the package of the page has a file, by its path from the root: a link to it stays relative. */
  readonly isBeside: (path: string) => boolean;
}

/** The page with whole addresses in place of its relative links to files that are not beside it, outside of code. */
export function linkPage(page: string, { address, folder, tag, isBeside }: PagePlace): string {
  const link = (kind: string) => (whole: string, text: string, path: string) => {
    const target = posix.join(folder, path);
    return isBeside(target) ? whole : `${text}${address}/${kind}/${tag}/${target}`;
  };
  // Every second piece is code.
  const pieces = page.split(/(^```[^]*?^```$|`[^`\n]+`)/m);
  const linked = pieces.map((piece, index) => {
    if (index % 2 === 1) return piece;
    // A picture may be the text of a link, so pictures come first.
    return piece
      .replaceAll(/(!\[[^\]]*\]\()(?!https?:)([^)\s]+)/g, link("raw"))
      .replaceAll(/(\]\()(?!https?:|mailto:|#)([^)\s#]+)/g, link("blob"));
  });
  return linked.join("");
}
