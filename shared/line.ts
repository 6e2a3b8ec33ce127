// A line of text from a node, restricted because other nodes, clients or storages receive it.
import * as z from "zod";

/** A line without control characters. */
export const Line = (maxChars: number) =>
  z
    .string()
    .max(maxChars)
    .regex(/^[^\p{Cc}\p{Cs}\u2028\u2029]*$/u, "contains a control character");
