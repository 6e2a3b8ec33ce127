// The one way in which a function returns that something did not work.
import type { Failure } from "./errors.ts";

/**
 * The value, or why there is none. `error` is a `Failure` (code and message) where it may become a status, a report or
 * a response; a plain sentence (`Result<T, string>`) where the caller knows the field or the code that it belongs to.
 * Throw only for what no caller expects.
 */
export type Result<T, E = Failure> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E };

export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });
export const err = <E>(error: E): { readonly ok: false; readonly error: E } => ({ ok: false, error });
