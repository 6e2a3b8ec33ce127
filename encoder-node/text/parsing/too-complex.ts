// The limits of parsers of foreign texts. Pure.
import { AppError } from "#shared/errors.ts";

/** Two hours of captions take less than a second. The closed captions of ten hours take about half of the memory. */
export const LIMITS = { seconds: 60, heapMb: 1024 };

/** Completes `cannot be used: `. */
export const tooComplex = (cause: unknown): AppError => {
  const limits = `${LIMITS.seconds} s or ${LIMITS.heapMb / 1024} GB of memory`;
  return new AppError("subtitle_failed", `it is too complex: reading it takes more than ${limits}`, { cause });
};
