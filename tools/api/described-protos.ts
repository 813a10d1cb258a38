import { type AnyDesc, createFileRegistry, type DescFile, type DescMethod, fromBinary } from "@bufbuild/protobuf";
import {
  type FileDescriptorSet,
  FileDescriptorSetSchema,
  MethodOptions_IdempotencyLevel,
} from "@bufbuild/protobuf/wkt";
import { getComments } from "@bufbuild/protoplugin";
import { execFileSync } from "node:child_process";

/** Reads the protos of the public face with their comments, by file name. */
export function readProtos(): readonly DescFile[] {
  const image = execFileSync("node_modules/.bin/buf", ["build", "proto", "--output", "-"]);
  const set: FileDescriptorSet = fromBinary(FileDescriptorSetSchema, image);
  const files = [...createFileRegistry(set).files].filter(({ proto }) => proto.package === "snowlane.v1");
  return files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The comment above an element of a proto, as paragraphs of one line each. */
export function paragraphsOf(element: Exclude<AnyDesc, DescFile>): readonly string[] {
  const { leading = "" } = getComments(element);
  return leading
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim().replaceAll(/\s*\n\s*/g, " "))
    .filter((paragraph) => paragraph !== "");
}

/** Whether a method may be called by GET. */
export function hasNoSideEffects({ idempotency }: DescMethod): boolean {
  return idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}

/** The path of a method, from the root of a server's address. */
export function pathOf({ parent, name }: DescMethod): string {
  return `/${parent.typeName}/${name}`;
}
