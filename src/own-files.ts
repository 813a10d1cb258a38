import { getAsset, isSea } from "node:sea";

/**
 * Reads a file of this program itself from the executable that it is, in which Node holds each as an asset:
 * docs/adr/0172.
 *
 * @param name - As in dist/: `page/index.html`.
 * @returns undefined where the program is no executable: its files then stand beside it.
 * @throws Error for a file that there is not.
 */
export function readAsset(name: string): Uint8Array<ArrayBuffer> | undefined {
  return isSea() ? new Uint8Array(getAsset(name)) : undefined;
}
