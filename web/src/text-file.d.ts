/** A file that tools/bundle-page.mjs puts into the bundle as its text. */
declare module "*?text" {
  export const text: string;
}
