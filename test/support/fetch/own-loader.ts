import { chmodSync, globSync, lstatSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

/**
 * Puts a script in place of each program of an unpacked tree, which runs it by the loader and the C library of that
 * tree: those of this machine may be too old for it.
 *
 * The tree may be copied to another place, as long as all of its `usr` is. A program starts others of the tree, and
 * finds its own files, by the path that it was called by.
 *
 * @param programs - Patterns of paths below `root`, all of them below `usr`.
 */
export function runByOwnLoader(root: string, programs: readonly string[]): void {
  // A program may be a link to another one: that is moved when each link has been followed.
  const paths = globSync([...programs], { cwd: root }).map((path) => join(root, path));
  const found = paths
    .filter((path) => isElf(path))
    .map((path) => ({ path, real: realpathSync(path), isLink: lstatSync(path).isSymbolicLink() }));
  const moved = new Set(found.filter(({ isLink }) => !isLink).map(({ path }) => path));
  const [library] = globSync("usr/lib/*-linux-gnu*", { cwd: root });
  const [loader] = globSync(["usr/lib64/ld-linux*.so.*", "usr/lib/ld-linux*.so.*"], { cwd: root });
  for (const { path, real, isLink } of found) {
    const file = moved.has(real) ? `${real}.elf` : real;
    if (isLink) rmSync(path);
    else renameSync(path, file);
    // The rest of $0 is the same wherever the tree is.
    const lines = [
      "#!/bin/sh",
      "# Runs the program with the libraries that it was built for.",
      `root=\${0%/${relative(root, path)}}`,
      `exec "$root/${loader}" --library-path "$root/${library}" --argv0 "$0" "$root/${relative(root, file)}" "$@"`,
    ];
    writeFileSync(path, `${lines.join("\n")}\n`);
    chmodSync(path, 0o755);
  }
}

function isElf(path: string): boolean {
  return readFileSync(path).subarray(0, 4).equals(Buffer.from("\u007fELF", "latin1"));
}
