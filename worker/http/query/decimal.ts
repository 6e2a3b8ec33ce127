import * as z from "zod";

/** A number of a query, in decimal digits: JavaScript by itself also reads `0x10`, `1e1` and nothing at all as numbers. */
export const decimal = (number: z.ZodCoercedNumber) =>
  z.preprocess((text) => (typeof text === "string" && !/^\d+(?:\.\d+)?$/.test(text) ? Number.NaN : text), number);
