import { ownerPlaceholder, repositoryAddress } from "../../src/version.ts";

/** A page beside this one. */
export interface ProjectLink {
  readonly name: "docs" | "api" | "source" | "changes" | "licence";
  /** Relative to the page, or whole. */
  readonly href: string;
}

/**
 * The pages of a project whose repository has this address; undefined: it has none yet, and what is in it is left
 * out.
 */
export function linksOf(repository: string | undefined): readonly ProjectLink[] {
  const within = (name: ProjectLink["name"], path: string): readonly ProjectLink[] =>
    repository === undefined ? [] : [{ name, href: repository + path }];
  return [
    ...within("docs", "/blob/main/docs/README.md"),
    { name: "api", href: "./openapi.json" },
    ...within("source", ""),
    ...within("changes", "/blob/main/CHANGELOG.md"),
    { name: "licence", href: "https://www.apache.org/licenses/LICENSE-2.0" },
  ];
}

/** The links of the head and the foot. */
export const links = linksOf(repositoryAddress.includes(`/${ownerPlaceholder}/`) ? undefined : repositoryAddress);
