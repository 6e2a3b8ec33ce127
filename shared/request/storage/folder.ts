// Fields that several storage services share.
import * as z from "zod";
import { cleanPath } from "../clean-path.ts";
import { text } from "../parse-section.ts";

/** The folder of a storage that contains all objects of a job. Leading and trailing slashes are ignored. */
export const folder = z
  .string("must be a string")
  .max(512, "must have at most 512 characters")
  .check(cleanPath)
  .default("")
  .describe("The folder that contains all outputs of the job");

/** The value of a header that objects are served with. */
export const headerValue = text(256).regex(/^[\x20-\x7e]+$/, "must be the value of an HTTP header in ASCII");
