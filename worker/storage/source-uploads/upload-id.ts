// Ids of uploads of source files.
import { type RandomBytes, randomText } from "#shared/ids.ts";

/** 20 characters of `[A-Za-z0-9]`, about 119 random bits. */
export const newUploadId = (random: RandomBytes): string => randomText(20, random);
export const isUploadId = (text: string): boolean => /^[A-Za-z0-9]{20}$/.test(text);
