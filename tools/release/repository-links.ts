import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

/** The READMEs that a registry shows as the page of a package. */
const registryPages = ["README.md", "clients/typescript/README.md", "clients/python/README.md"];
/** The manifests whose `repository` a registry shows, or checks. */
const manifests = ["package.json", "clients/typescript/package.json"];
const wanted = '"repository": { "type": "git", "url": "git+https://github.com/OWNER/NAME.git" }';

/**
 * The address of the repository on the web, which package.json names, without a slash at its end; undefined where it
 * names none.
 *
 * @param manifest - From the root of the repository.
 */
function repositoryAddress(root: string, manifest = "package.json"): string | undefined {
  const { repository } = JSON.parse(readFileSync(join(root, manifest), "utf8")) as {
    readonly repository?: { readonly type?: string; readonly url?: string };
  };
  if (repository?.type !== "git") return undefined;
  return /^git\+(https:\/\/github\.com\/[\w.-]+\/[\w.-]+)\.git$/.exec(repository.url ?? "")?.[1];
}

/** A line for each manifest that does not name the repository, with what to do. */
export function repositoryProblems(root: string): readonly string[] {
  const address = repositoryAddress(root);
  return manifests.flatMap((manifest) => {
    const named = repositoryAddress(root, manifest);
    if (named === undefined)
      return [
        `${manifest} names no repository, so links and pictures on the package's page would be dead: add ${wanted}.`,
      ];
    if (address !== undefined && named !== address) return [`${manifest} names another repository than package.json.`];
    return [];
  });
}

/**
 * Makes each README that a registry shows lead into the repository at the tag of a version. A registry shows the page
 * where no other file of the repository is, so a relative link would be dead. Changes nothing where package.json names
 * no repository.
 */
export function linkRegistryPages(root: string, version: string): void {
  const address = repositoryAddress(root);
  if (address === undefined) return;
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
