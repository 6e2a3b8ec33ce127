// What a conversion reports besides the request.

/** `lost`: is not in the request. `changed`: works differently. `todo`: somebody must fill it in. */
export type NoteLevel = "lost" | "changed" | "todo";

export type Note = {
  readonly level: NoteLevel;
  /** The field of the old request, such as `outputs.0.skip`; of a `todo`, the field of the new one. */
  readonly field: string;
  /** Names no values, because any may be secret. */
  readonly message: string;
};

/** An object of JSON. */
export type Json = { readonly [name: string]: unknown };

/** A request of this service, as far as it could be made, and what it lacks. */
export type Converted = { readonly request: Json; readonly notes: readonly Note[] };

/**
 * A field of an old service: its path with `[]` after lists and `*` for any name, and what it becomes. With `why` it is
 * lost, and so are the fields below it.
 */
export type FieldRow =
  | { readonly field: string; readonly becomes: string }
  | { readonly field: string; readonly why: string };

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The reason for settings of encoders that are lost. */
export const PLANNED = "the encoder's settings follow from the format";
