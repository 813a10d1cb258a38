import type { DebianPackage } from "./debian-package.ts";
import type { GoMain } from "./go-main.ts";
import type { GoProgram } from "./go-program.ts";
import type { MavenClassPath } from "./maven-class-path.ts";

/** Where a tool can be fetched from. */
export type Source =
  | { readonly kind: "debian"; readonly package: DebianPackage }
  | { readonly kind: "go"; readonly program: GoProgram }
  | { readonly kind: "go-main"; readonly main: GoMain }
  | { readonly kind: "maven"; readonly classPath: MavenClassPath }
  | { readonly kind: "python"; readonly name: string; readonly requirements: string };

/** How a tool is found. */
export interface ToolEntry {
  /** On PATH; absent where only `paths` count. */
  readonly command?: string;
  /** Under `/` or under the folder that it was fetched into; may hold `*`. */
  readonly paths: readonly string[];
  readonly source: Source;
  /** The message where it can be neither found nor fetched. */
  readonly install: string;
}
