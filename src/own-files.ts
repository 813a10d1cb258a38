import { getAsset, isSea } from "node:sea";

/**
 * Reads a file that belongs to this program from its executable, in which Node holds each such file as an asset:
 * docs/adr/0172.
 *
 * @param name - The path in dist/, such as `page/index.html`.
 * @returns undefined if the program does not run as an executable: its files are then beside it.
 * @throws Error if there is no such file.
 */
export function readAsset(name: string): Uint8Array<ArrayBuffer> | undefined {
  return isSea() ? new Uint8Array(getAsset(name)) : undefined;
}
