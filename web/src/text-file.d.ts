/** A file that tools/bundle-page.mjs puts into the bundle as its text. */
declare module "*?text" {
  export const text: string;
}

/** A script of a worker, or a style: tools/bundle-page.mjs makes it a file of its own, of which this is the address. */
declare module "*?address" {
  export const address: string;
}
