/**
 * Answers the files of the site from a copy, so that it works offline. It answers no other request, so it never stands
 * between a page and a server: docs/adr/0214.
 *
 * A copy is of one version. The next version is copied beside it, and used once no tab has this one open.
 */
import { files, version } from "./site-files.ts";

interface WorkerEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface FetchEvent extends Event {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}
/** A part of the types of service workers, which TypeScript cannot have beside those of the DOM. */
interface WorkerScope {
  readonly registration: { readonly scope: string };
  addEventListener(type: "install" | "activate", listener: (event: WorkerEvent) => void): void;
  addEventListener(type: "fetch", listener: (event: FetchEvent) => void): void;
}

const worker = globalThis as unknown as WorkerScope;
const { scope } = worker.registration;
// Other sites of the same origin have copies of their own.
const copyName = `snowlane ${scope} ${version}`;
const addresses = new Set(files.map((file) => new URL(file, scope).href));

worker.addEventListener("install", (event) => {
  event.waitUntil(copyFiles());
});

worker.addEventListener("activate", (event) => {
  event.waitUntil(removeOldCopies());
});

worker.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  const [address = ""] = url.split(/[?#]/);
  if (method === "GET" && addresses.has(address)) event.respondWith(answer(address));
});

async function copyFiles(): Promise<void> {
  const copy = await caches.open(copyName);
  await copy.addAll([...addresses].map((address) => new Request(address, { cache: "no-cache" })));
}

async function removeOldCopies(): Promise<void> {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(`snowlane ${scope} `) && name !== copyName);
  await Promise.all(old.map((name) => caches.delete(name)));
}

/** A browser may have thrown the copy away. */
async function answer(address: string): Promise<Response> {
  return (await caches.match(address, { cacheName: copyName })) ?? (await fetch(address));
}
