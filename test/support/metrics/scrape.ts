import { askHttp1 } from "../http2/http-call.ts";

/** One scrape: the value of each line by the text before it, as {@link callsLine} writes one. */
export type Scrape = ReadonlyMap<string, number>;

/** Scrapes a server. @param headers - Such as the credentials. */
export async function scrape(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Scrape> {
  return parseScrape(await scrapeText(url, headers));
}

/** Scrapes a server, as the text that it sends. */
async function scrapeText(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const { status, body } = await askHttp1(url, { path: "/metrics", method: "GET", headers });
  if (status !== 200) throw new Error(`GET /metrics was answered with ${status}: ${body.toString()}`);
  return body.toString();
}

/** Reads the lines of a scrape. */
function parseScrape(text: string): Scrape {
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
