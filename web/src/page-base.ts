/**
 * The address of the folder that the page came from, with a slash at its end. Calls go there, so that the page works
 * under a prefix of a proxy as it does at the root.
 */
export const pageBase = new URL("./", location.href).href;
