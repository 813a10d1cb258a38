import { chownSync, mkdirSync } from "node:fs";
import type { ImageConfig } from "./image-builder.ts";

/** How a container is run. */
export interface ConfinedOptions {
  /** The folder with the files of the image. */
  readonly root: string;
  readonly config: Pick<ImageConfig, "User" | "Env" | "Entrypoint">;
  /** A folder that is mounted as the state; absent: no folder can be written. */
  readonly volume?: string;
  /** Beside that of the image. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** In a mount namespace of its own, which ends with the process. Each line replaces the shell in the end. */
const script = `set -e
root=$1 volume=$2
shift 2
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
[ -z "$volume" ] || mount --bind "$volume" "$root/var/lib/snowlane"
exec "$@"`;

/**
 * The command before the arguments of an image's program, as an engine runs it with `read_only` and
 * `no-new-privileges`: its root is read-only, its user and environment are those of the image. The network is that of
 * the machine. It is the program itself that runs in the end, so signals reach it. Needs root.
 */
export function confinedProgram({ root, config, volume, environment = {} }: ConfinedOptions): readonly string[] {
  const variables = [...config.Env, ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)];
  const namespace = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", root, volume ?? ""];
  const confined = ["setpriv", "--no-new-privs", "env", "--ignore-environment", ...variables];
  return [...namespace, ...confined, "chroot", `--userspec=${config.User}`, root, ...config.Entrypoint];
}

/** Makes a folder as an engine makes a volume that is new: with the owner of the image's folder. */
export function makeVolume(path: string, { User: user }: Pick<ImageConfig, "User">): string {
  mkdirSync(path, { recursive: true });
  const [userId, groupId] = user.split(":").map(Number);
  chownSync(path, userId!, groupId!);
  return path;
}
