/** Version of this program, MAJOR.MINOR.PATCH. Equal to package.json; a test holds them together. */
export const version = "0.1.0";
