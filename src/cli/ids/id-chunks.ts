import type { Layout } from "../../snowflake/layout.ts";

/** Some IDs, in order. */
export interface IdChunk {
  readonly ids: readonly bigint[];
  /** The same IDs in the form that was asked for; absent where none was. */
  readonly texts?: readonly string[] | undefined;
}

/** The source from which `snowlane next` takes its IDs. */
export interface IdChunks {
  readonly layout: Layout;
  readonly chunks: AsyncIterable<IdChunk>;
  readonly close: () => Promise<void>;
}
