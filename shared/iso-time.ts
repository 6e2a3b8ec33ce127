// Times in requests.
import * as z from "zod";

const TIME_RULE =
  "must be a date such as 2026-11-22, or a time such as 2026-11-22T10:00:00Z (ISO 8601; UTC without an offset)";

/** An ISO 8601 date or time, parsed to ms since 1970. */
export const isoTime = z
  .string(TIME_RULE)
  .regex(/^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?)?$/, TIME_RULE)
  .transform((text) => Date.parse(/T[^T]*(?:Z|[+-]\d\d:\d\d)$|^[^T]*$/.test(text) ? text : `${text}Z`))
  .refine((ms) => Number.isFinite(ms), TIME_RULE);
