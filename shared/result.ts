// Return value of functions that may fail.
import type { Failure } from "./errors.ts";

/**
 * The value, or an error. `error` is a `Failure` (code and message) if it may become a status, a report or a response.
 * It is a plain sentence (`Result<T, string>`) if the caller knows the field or the code. Throw only errors that no
 * caller expects.
 */
export type Result<T, E = Failure> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E };

export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });
export const err = <E>(error: E): { readonly ok: false; readonly error: E } => ({ ok: false, error });
