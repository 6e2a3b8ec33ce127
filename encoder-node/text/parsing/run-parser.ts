// Runs a parser, and reports texts that are not usable as values.
import { AppError, failureOf } from "#shared/errors.ts";
import { err, ok, type Result } from "#shared/result.ts";
import { PARSERS, type Parsers } from "./parsers.ts";
import { tooComplex } from "./too-complex.ts";

/** A parser by its name, with its arguments. */
export type Parsing = { readonly name: keyof Parsers; readonly args: readonly unknown[] };

/** Rejects with errors of this program. */
export async function runParser({ name, args }: Parsing): Promise<Result<unknown>> {
  const parser: (...args: never[]) => Promise<unknown> = PARSERS[name];
  try {
    return ok(await parser(...(args as never[])));
  } catch (error) {
    // JavaScript's own limits: the length of a text or a list, and the depth of calls.
    const known = error instanceof RangeError ? tooComplex(error) : error;
    if (!(known instanceof AppError)) throw known;
    return err(failureOf(known));
  }
}
