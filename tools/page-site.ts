/**
 * Writes the page as a static site, which any file server serves and which works offline after the first visit. The
 * same files as in dist/page, but no server is looked for, and the policy is in the page itself. docs/adr/0214 says
 * why.
 */
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rolldown } from "rolldown";
import { text } from "../src/config/setting-kinds.ts";
import { withFallback } from "../src/config/setting.ts";
import { contentSecurityPolicy } from "../src/server/call/page-headers.ts";
import { runProgram } from "../test/support/processes/run-program.ts";

const bundled = "dist/page";
/** test/web/page-identity.test.ts makes it. */
const socialPicture = "web/social.png";
const options = {
  to: withFallback(text({ name: "to", placeholder: "FOLDER", doc: "Where the files go." }), "site"),
  url: withFallback(
    text({
      name: "url",
      placeholder: "URL",
      doc: "Where the site will be, for the picture of a shared link: many programs want its whole address.",
    }),
    "./",
  ),
};

const hashOf = (content: string | Buffer): string =>
  createHash("sha256").update(content).digest("base64url").slice(0, 12);

/** Bundles a script of web/site/ into one file. */
async function bundleScript(path: string, siteFiles: string): Promise<string> {
  const bundle = await rolldown({
    input: path,
    platform: "browser",
    plugins: [
      {
        name: "site-files",
        load: (id) => (id.endsWith("/web/site/site-files.ts") ? { code: siteFiles, moduleType: "js" } : undefined),
      },
    ],
  });
  const { output } = await bundle.generate({ format: "esm", minify: true, comments: false, codeSplitting: false });
  await bundle.close();
  return output[0].code;
}

/** For a home screen. Its addresses are relative to its own. */
const webManifest = (icon: string): string =>
  JSON.stringify({
    name: "Snowlane",
    start_url: "../",
    display: "standalone",
    icons: [{ src: `../${icon}`, sizes: "any", type: "image/svg+xml" }],
  });

/** A policy in a page has no say in frames, and the site may start the one worker that makes it work offline. */
function sitePolicy(): string {
  const rules = contentSecurityPolicy.split("; ").filter((rule) => !rule.startsWith("frame-ancestors"));
  return rules.map((rule) => (rule.startsWith("trusted-types") ? `${rule} snowlane-offline` : rule)).join("; ");
}

/** The files that the site has beside those of the page. */
interface SiteParts {
  readonly manifest: string;
  readonly script: string;
  /** Whole where the site's address is known. */
  readonly picture: string;
}

/** The page without a server: its head says so before any script runs. */
function sitePage(page: string, parts: SiteParts): string {
  const changes = [
    ['<html lang="en" data-server>', '<html lang="en">'],
    [
      '<meta charset="utf-8">',
      `<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${sitePolicy()}">\n` +
        '<meta name="referrer" content="no-referrer">',
    ],
    [
      '<link rel="stylesheet"',
      `<meta property="og:image" content="${parts.picture}">\n<meta property="og:image:width" content="1200">\n` +
        '<meta property="og:image:height" content="630">\n<meta name="twitter:card" content="summary_large_image">\n' +
        `<link rel="manifest" href="./${parts.manifest}">\n` +
        `<script type="module" src="./${parts.script}"></script>\n<link rel="stylesheet"`,
    ],
    [
      '<span class="pill asking"><i></i><span>connecting</span></span>',
      '<span class="pill none"><i></i><span>without a server</span></span>',
    ],
  ] as const;
  return changes.reduce((text, [from, to]) => {
    if (text.split(from).length !== 2) throw new Error(`web/index.html has not one ${from}`);
    return text.replace(from, () => to);
  }, page);
}

/** Files of an earlier version stay, so that tabs with it go on. */
async function writeSite(folder: string, url: string): Promise<void> {
  const manifest = JSON.parse(readFileSync(join(bundled, "manifest.json"), "utf8")) as Readonly<
    Record<string, { readonly file: string; readonly hash: string }>
  >;
  const files = Object.values(manifest).map(({ file }) => file);
  const write = (file: string, content: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), content);
  };
  for (const file of files) cpSync(join(bundled, file), join(folder, file));
  const icon = files.find((file) => /^assets\/icon-.*\.svg$/.test(file));
  if (icon === undefined) throw new Error("The page has no icon.");
  const webManifestText = webManifest(icon);
  const script = await bundleScript("web/site/offline.ts", "");
  const picture = `assets/social-${hashOf(readFileSync(socialPicture))}.png`;
  const parts: SiteParts = {
    picture: `${url.replace(/\/$/, "")}/${picture}`,
    manifest: `assets/site-${hashOf(webManifestText)}.webmanifest`,
    script: `assets/offline-${hashOf(script)}.js`,
  };
  const page = sitePage(readFileSync(join(bundled, "index.html"), "utf8"), parts);
  cpSync(socialPicture, join(folder, picture));
  write(parts.manifest, webManifestText);
  write(parts.script, script);
  write("index.html", page);
  // A folder's address gives its page, on every file server.
  const addresses = ["./", ...files.filter((file) => file !== "index.html"), parts.manifest, parts.script];
  const version = hashOf(JSON.stringify([manifest, parts, page]));
  const siteFiles = `export const files = ${JSON.stringify(addresses)}; export const version = "${version}";`;
  write("service-worker.js", await bundleScript("web/site/service-worker.ts", siteFiles));
}

await runProgram({
  call: "npm run page:site --",
  summary: "Writes the page as a static site that needs no server and works offline",
  options,
  examples: ["npm run page:site", "npm run page:site -- --to public/ids --url https://example.com/ids/"],
  run: async ({ to, url }) => {
    await writeSite(to, url);
    process.stdout.write(`The site is in ${to}: serve that folder by any file server.\n`);
    return 0;
  },
});
