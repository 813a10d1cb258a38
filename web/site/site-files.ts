/** What a site consists of. In a site, tools/page-site.ts puts another text in place of this one. */

/** The addresses of the files, relative to the folder of the site. */
export const files: readonly string[] = [];

/** Changes with any of the files. */
export const version: string = "";
