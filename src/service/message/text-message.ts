import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type ForeignTextSchema,
  TextForm as FormMessage,
  type TextFormat as FormatMessage,
  type TextFormatSchema,
  type UuidInfoSchema,
} from "../../gen/snowlane/v1/id_service_pb.ts";
import type { ForeignText } from "../../text/foreign-text.ts";
import type { FormattedText, TextCodec } from "../../text/text-codec.ts";
import type { TextForm, TextFormat } from "../../text/text-form.ts";
import type { UuidInfo } from "../../text/uuid.ts";
import { inField, RequestError } from "./request-error.ts";
import { unixNsToTimestamp } from "./time-message.ts";

const formMessages: Readonly<Record<TextForm, FormMessage>> = {
  decimal: FormMessage.DECIMAL,
  hex: FormMessage.HEX,
  base32: FormMessage.BASE32,
  base58: FormMessage.BASE58,
  base62: FormMessage.BASE62,
  serial: FormMessage.SERIAL_NUMBER,
  uuid: FormMessage.UUID,
  typed: FormMessage.TYPED,
};
const formOfMessage = new Map(Object.entries(formMessages).map(([form, message]) => [message, form as TextForm]));

/** Writes a form as a message. */
export function formToMessage(form: TextForm): FormMessage {
  return formMessages[form];
}

/**
 * Reads the form in `field` of a request; undefined if none is named.
 *
 * @throws RequestError INVALID_TEXT_FORMAT for a number that is not a form.
 */
export function formFromMessage(field: string, message: FormMessage): TextForm | undefined {
  const form = formOfMessage.get(message);
  if (form !== undefined || message === FormMessage.UNSPECIFIED) return form;
  throw new RequestError("INVALID_TEXT_FORMAT", field, `There is no text form ${message}.`, { form: message });
}

/**
 * Makes the function that writes IDs in a request's `text_format`; undefined if it asks for no text.
 *
 * @throws RequestError INVALID_TEXT_FORMAT.
 */
export function writerFromMessage(
  codec: TextCodec,
  message: FormatMessage | undefined,
): ((id: bigint) => string) | undefined {
  if (message === undefined) return undefined;
  const { serialPrefix, utcOffsetMinutes, checkSymbol, typePrefix } = message;
  const form = formFromMessage("text_format.form", message.form);
  if (form !== undefined) {
    const format = { form, serialPrefix, utcOffsetMinutes, checkSymbol, typePrefix };
    return inField("text_format", () => codec.writer(format));
  }
  if (serialPrefix === "" && utcOffsetMinutes === 0 && !checkSymbol && typePrefix === "") return undefined;
  throw new RequestError("INVALID_TEXT_FORMAT", "text_format.form", "The text format has options but no form.");
}

/** Writes a format as a message. */
export function formatToMessage(format: TextFormat): MessageInitShape<typeof TextFormatSchema> {
  const { form, serialPrefix = "", utcOffsetMinutes = 0, checkSymbol = false, typePrefix = "" } = format;
  return { form: formToMessage(form), serialPrefix, utcOffsetMinutes, checkSymbol, typePrefix };
}

/** Writes a text as a message. */
export function textToMessage({ format, text }: FormattedText): { readonly form: FormMessage; readonly text: string } {
  return { form: formToMessage(format.form), text };
}

/** Writes the parts of another generator's text as a message. */
export function foreignToMessage({
  kind,
  createTimeNs,
  parts,
}: ForeignText): MessageInitShape<typeof ForeignTextSchema> {
  const time = createTimeNs === undefined ? {} : { createTime: unixNsToTimestamp(createTimeNs) };
  return { kind, ...time, parts };
}

/** Writes the parts of a UUID as a message. */
export function uuidToMessage(uuid: UuidInfo, isSnowlane: boolean): MessageInitShape<typeof UuidInfoSchema> {
  const { version, variant, createTimeNs, clockSequence, node = "" } = uuid;
  return {
    version,
    variant,
    ...(createTimeNs === undefined ? {} : { createTime: unixNsToTimestamp(createTimeNs) }),
    ...(clockSequence === undefined ? {} : { clockSequence }),
    node,
    isSnowlane,
  };
}
