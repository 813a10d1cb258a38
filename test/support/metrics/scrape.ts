import { once } from "node:events";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

/** One scrape: the value of each line by the text before it, as {@link callsLine} writes one. */
export type Scrape = ReadonlyMap<string, number>;

/** How to reach a server that is not open: credentials, and the certificates of its authority (PEM). */
export interface ScrapeOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly ca?: Buffer;
}

/** Scrapes a server. */
export async function scrape(url: string, options: ScrapeOptions = {}): Promise<Scrape> {
  return parseScrape(await scrapeText(url, options));
}

/** Scrapes a server, as the text that it sends. */
export async function scrapeText(url: string, { headers = {}, ca }: ScrapeOptions = {}): Promise<string> {
  const target = new URL("/metrics", url);
  const call =
    target.protocol === "https:"
      ? requestHttps(target, { headers, agent: false, ca })
      : requestHttp(target, { headers, agent: false });
  call.end();
  const [response] = await once(call, "response");
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  if (response.statusCode !== 200) throw new Error(`GET /metrics was answered with ${response.statusCode}: ${text}`);
  return text;
}

/** Reads the lines of a scrape. */
export function parseScrape(text: string): Scrape {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

/** The name of the line of a method and a code. */
export function callsLine(method: string, code: string): string {
  return `snowlane_calls_total{method="${method}",code="${code}"}`;
}
