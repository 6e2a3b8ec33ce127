// Objects of a request that have known fields and no others.
import * as z from "zod";

/** Of an unknown field's name, which may be any text, so much is repeated. */
const SHOWN_CHARS = 60;

/** A zod object of exactly these fields; the refusal of another one names it and lists those that are allowed. */
export const strictObject = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `has no field \`${issue.keys[0]?.slice(0, SHOWN_CHARS)}\`; allowed: ${Object.keys(shape).join(", ")}`
        : "must be an object",
  });
