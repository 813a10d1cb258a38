/** The head of a request, and the rules by which it is malformed: RFC 9113 sections 8.1.1, 8.2 and 8.3.1. */
import type { Field } from "./hpack/field.ts";

/** The head of one request. Requests with the same header block share it. It never changes, except for `note`. */
export class RequestHead {
  readonly method: string;
  readonly scheme: string;
  readonly path: string;
  /** `:authority`, or else `host`; empty if there is neither. */
  readonly authority: string;
  /** Undefined if the request does not declare it. */
  readonly contentLength: number | undefined;
  /** The fields without pseudo fields, in their order. Not joined: `cookie` may be split into several fields. */
  readonly fields: readonly Field[];
  /** A place where the server caches what it has derived from this head. */
  note: unknown = undefined;

  constructor(
    pseudo: { readonly method: string; readonly scheme: string; readonly path: string; readonly authority: string },
    contentLength: number | undefined,
    fields: readonly Field[],
  ) {
    this.method = pseudo.method;
    this.scheme = pseudo.scheme;
    this.path = pseudo.path;
    this.authority = pseudo.authority;
    this.contentLength = contentLength;
    this.fields = fields;
  }

  /**
   * The value of a field by its lower-case name; several fields are joined by ", ", those of `cookie` by "; " (section
   * 8.2.3).
   */
  get(name: string): string | undefined {
    let value: string | undefined;
    for (const field of this.fields) {
      if (field.name !== name) continue;
      value = value === undefined ? field.value : `${value}${name === "cookie" ? "; " : ", "}${field.value}`;
    }
    return value;
  }
}

/** Creates the head from a request's fields; undefined if they are malformed. */
export function createRequestHead(fields: readonly Field[]): RequestHead | undefined {
  const pseudo = { method: "", scheme: "", path: "", authority: "" };
  const regular: Field[] = [];
  let hasAuthority = false;
  let host: string | undefined;
  let contentLength: number | undefined;
  for (const field of fields) {
    switch (field.kind) {
      case "malformed":
        return undefined;
      case "regular":
        break;
      case "host":
        if (host !== undefined) return undefined;
        host = field.value;
        break;
      case "contentLength":
        if (contentLength !== undefined && contentLength !== Number(field.value)) return undefined;
        contentLength = Number(field.value);
        break;
      case "authority":
        if (hasAuthority || regular.length > 0) return undefined;
        hasAuthority = true;
        pseudo.authority = field.value;
        continue;
      case "method":
      case "scheme":
      case "path":
        // Each may come once, and before all regular fields. None of them may be empty, so an empty one was not seen
        // yet.
        if (pseudo[field.kind] !== "" || regular.length > 0) return undefined;
        pseudo[field.kind] = field.value;
        continue;
    }
    regular.push(field);
  }
  const { method, scheme, path } = pseudo;
  // CONNECT has no scheme and no path (section 8.5): it is for proxies, and refused like a malformed request.
  if (method === "" || scheme === "" || path === "" || method === "CONNECT") return undefined;
  if (path === "*" && method !== "OPTIONS") return undefined;
  if (host !== undefined) {
    if (pseudo.authority === "") pseudo.authority = host;
    else if (host.toLowerCase() !== pseudo.authority.toLowerCase()) return undefined;
  }
  return new RequestHead(pseudo, contentLength, regular);
}

/** Whether fields may form a trailer section: no pseudo fields and nothing that frames a message (section 8.1). */
export function isTrailerSection(fields: readonly Field[]): boolean {
  return fields.every(({ kind }) => kind === "regular");
}
