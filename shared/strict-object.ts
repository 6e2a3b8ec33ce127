// Objects of a request that have known fields and no others.
import * as z from "zod";
import { shown } from "./shown.ts";

/**
 * A zod object of exactly these fields; the refusal of another one names it and lists those that are allowed, that of
 * what is no object says `wanted`.
 */
export const strictObject = <Shape extends z.ZodRawShape>(shape: Shape, wanted = "must be an object") =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `has no field \`${shown(issue.keys[0] ?? "")}\`; allowed: ${Object.keys(shape).join(", ")}`
        : wanted,
  });
