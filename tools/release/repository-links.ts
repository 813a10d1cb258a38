import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { placeholder, repositoryAddress } from "../repository-address.ts";

/** The READMEs that a registry shows as the page of a package. */
const registryPages = [
  "README.md",
  "clients/typescript/README.md",
  "clients/python/README.md",
  "clients/rust/README.md",
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
 * Makes each README that a registry shows lead into the repository at the tag of a version. A registry shows the page
 * where no other file of the repository is, so a relative link would be dead. Changes nothing where package.json names
 * the placeholder.
 */
export function linkRegistryPages(root: string, version: string): void {
  const address = repositoryAddress(root);
  if (address === placeholder) return;
  for (const path of registryPages) {
    const page = readFileSync(join(root, path), "utf8");
    writeFileSync(join(root, path), linkPage(page, { address, folder: dirname(path), tag: `v${version}` }));
  }
}

/** Where a page stands, and where its repository is. */
interface PagePlace {
  readonly address: string;
  /** Of the page, from the root of the repository. */
  readonly folder: string;
  readonly tag: string;
}

/** The page with whole addresses in place of its relative links, outside of code. */
export function linkPage(page: string, { address, folder, tag }: PagePlace): string {
  const to = (kind: string, path: string): string => `${address}/${kind}/${tag}/${posix.join(folder, path)}`;
  // Every second piece is code.
  const pieces = page.split(/(^```[^]*?^```$|`[^`\n]+`)/m);
  const linked = pieces.map((piece, index) => {
    if (index % 2 === 1) return piece;
    // A picture may be the text of a link, so pictures come first.
    return piece
      .replaceAll(
        /(!\[[^\]]*\]\()(?!https?:)([^)\s]+)/g,
        (_, text: string, path: string) => `${text}${to("raw", path)}`,
      )
      .replaceAll(
        /(\]\()(?!https?:|mailto:|#)([^)\s#]+)/g,
        (_, text: string, path: string) => `${text}${to("blob", path)}`,
      );
  });
  return linked.join("");
}
