import { readFileSync } from "node:fs";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { readAsset } from "../../own-files.ts";
import { chooseEncoding, matchesTag, type PageEncoding, pageHeadersFor } from "./page-headers.ts";
import { unknownPathLine } from "./refusal-lines.ts";
import { textAnswer, withBody } from "./text-answer.ts";

/** The part of a request that the page's files depend on. */
export interface PageRequest {
  /** The path without the query; it is compared byte by byte. */
  readonly path: string;
  readonly method: string;
  readonly header: Headers;
}

/** One file of the page, as tools/bundle-page.mjs lists it. */
interface PageFile {
  /** Its name in the page's folder. */
  readonly file: string;
  readonly type: string;
  /** The hash of its content: part of the entity tag. */
  readonly hash: string;
}

/** The files by their paths. No other path is considered, so none ever reaches the file system. */
type PageManifest = Readonly<Record<string, PageFile>>;

/** The folder is beside the bundle; code that runs from the sources looks where the bundle would be. */
const folder = new URL(import.meta.url.endsWith(".ts") ? "../../../dist/page/" : "../page/", import.meta.url);
const suffixes: Readonly<Record<PageEncoding, string>> = { br: ".br", gzip: ".gz", identity: "" };
/** The names of assets carry a hash of their content, so they never change. Other files are asked for each time. */
const cachedForEver = "public, max-age=31536000, immutable";

let manifest: ReadonlyMap<string, PageFile> | undefined;
/** Files that were asked for, by name and encoding: all of them together are smaller than 1 MB. */
const contents = new Map<string, Uint8Array<ArrayBuffer>>();

/**
 * Answers a request for a file of the page, over any protocol. Gives undefined for other methods of paths that are not
 * the page's.
 *
 * This file is loaded with the first such request, and reads each file once. An unknown path is 404, never the page.
 */
export function answerPage({ path, method, header }: PageRequest): UniversalServerResponse | undefined {
  manifest ??= readManifest();
  const entry = manifest.get(path);
  const isRead = method === "GET" || method === "HEAD";
  const fields = pageHeadersFor(header);
  const refuse = (status: number, text: string) => textAnswer(status, method, text, fields);
  if (entry === undefined) return isRead ? refuse(404, unknownPathLine) : undefined;
  if (!isRead) return refuse(405, "Use GET or HEAD here: this is a file of the page.\n");
  const encoding = chooseEncoding(header.get("accept-encoding"));
  const tag = `"${entry.hash}${suffixes[encoding]}"`;
  const answer = new Headers({
    ...fields,
    "cache-control": path.startsWith("/assets/") ? cachedForEver : "no-cache",
    etag: tag,
    vary: "accept-encoding",
  });
  if (matchesTag(header.get("if-none-match"), tag)) return { status: 304, header: answer };
  const content = contentOf(entry, encoding);
  answer.set("content-type", entry.type);
  answer.set("content-length", String(content.length));
  if (encoding !== "identity") answer.set("content-encoding", encoding);
  return withBody(200, answer, method, content);
}

/** Where the page was not bundled, as in a checkout that was never built, there are no files. */
function readManifest(): ReadonlyMap<string, PageFile> {
  try {
    const text = new TextDecoder().decode(readPageFile("manifest.json"));
    return new Map(Object.entries(JSON.parse(text) as PageManifest));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return new Map();
    throw error;
  }
}

function contentOf({ file }: PageFile, encoding: PageEncoding): Uint8Array<ArrayBuffer> {
  const name = file + suffixes[encoding];
  const content = contents.get(name) ?? readPageFile(name);
  contents.set(name, content);
  return content;
}

function readPageFile(name: string): Uint8Array<ArrayBuffer> {
  return readAsset(`page/${name}`) ?? new Uint8Array(readFileSync(new URL(name, folder)));
}
