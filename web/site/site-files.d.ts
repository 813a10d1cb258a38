/** What a site consists of: tools/page-site.ts puts it into the bundle. */
declare module "site-files" {
  /** The addresses of the files, relative to the folder of the site. */
  export const files: readonly string[];
  /** Changes with any of the files. */
  export const version: string;
}
