import * as z from "zod";

/** A number in decimal digits in a query; JavaScript would also accept `0x10`, `1e1` and an empty string. */
export const decimal = (number: z.ZodCoercedNumber) =>
  z.preprocess((text) => (typeof text === "string" && !/^\d+(?:\.\d+)?$/.test(text) ? Number.NaN : text), number);
