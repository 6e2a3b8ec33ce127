// Members that several storage services have alike.
import * as z from "zod";
import { cleanPath } from "../clean-path.ts";
import { text } from "../parse-section.ts";

/** The folder of a storage below which a job's objects lie; a slash in front or at the end means nothing. */
export const folder = z
  .string("must be a string")
  .max(512, "at most 512 characters")
  .check(cleanPath)
  .default("")
  .describe("The folder below which all outputs of the job are stored");

/** A header that objects are to be served with. */
export const headerValue = text(256).regex(/^[\x20-\x7e]+$/, "must be the value of an HTTP header, in ASCII");
