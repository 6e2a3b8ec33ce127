// Notes of a conversion.

/** `lost`: is not in the new request. `changed`: works differently. `todo`: a person must fill it in. */
export type NoteLevel = "lost" | "changed" | "todo";

export type Note = {
  readonly level: NoteLevel;
  /** Field of the old request, such as `outputs.0.skip`. For `todo`: field of the new request. */
  readonly field: string;
  /** Contains no values, because any value may be secret. */
  readonly message: string;
};

/** A JSON object. */
export type Json = { readonly [name: string]: unknown };

/** A request of this service, possibly incomplete, and the notes about it. */
export type Converted = { readonly request: Json; readonly notes: readonly Note[] };

/**
 * A field of an old service: its path with `[]` after lists and `*` for any name, and its counterpart. With `why`, the
 * field and all fields below it are lost.
 */
export type FieldRow =
  | { readonly field: string; readonly becomes: string }
  | { readonly field: string; readonly why: string };

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Reason for lost encoder settings. */
export const PLANNED = "the encoder's settings follow from the format";
