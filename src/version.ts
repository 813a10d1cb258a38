/** Version of this program, MAJOR.MINOR.PATCH. Equal to package.json; a test checks that. */
export const version = "0.1.0";

/** The owner in {@link repositoryAddress} as long as the repository has no public address. */
export const ownerPlaceholder = "OWNER";

/** The repository on the web. tools/repository-address.ts writes it from package.json. */
export const repositoryAddress = "https://github.com/OWNER/snowlane";
