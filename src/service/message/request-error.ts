import { type ErrorReason, IdError, type IdErrorDetails } from "../../errors.ts";

/** A caller's error in one field of the request, which BadRequest then names. */
export class RequestError extends IdError {
  /** Path of the field in the request message: `count`, `layout.epoch_time`. */
  readonly field: string;

  constructor(reason: ErrorReason, field: string, message: string, metadata: IdErrorDetails["metadata"] = {}) {
    super(reason, message, { metadata });
    this.field = field;
  }
}

/** Runs `read`, and names the request's `field` in an IdError that it throws, unless that names one already. */
export function inField<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof IdError) || error instanceof RequestError) throw error;
    throw new RequestError(error.reason, field, error.message, error.metadata);
  }
}

/** The error of a page token that did not come from a response of the method. */
export function foreignPageToken(): RequestError {
  const message = "The page token is not from this method: give next_page_token of the response before.";
  return new RequestError("MALFORMED_TEXT", "page_token", message);
}
