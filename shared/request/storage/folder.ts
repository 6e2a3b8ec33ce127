// Fields that several storage services share.
import * as z from "zod";
import { cleanPath } from "../clean-path.ts";
import { text } from "../parse-section.ts";

/** Folder of a storage that contains all objects of a job. Leading and trailing slashes are ignored. */
export const folder = z
  .string("must be a string")
  .max(512, "must have at most 512 characters")
  .check(cleanPath)
  .default("")
  .describe("The folder that contains all outputs of the job");

/** Value of a header that is served with objects. */
export const headerValue = text(256).regex(/^[\x20-\x7e]+$/, "must be the value of an HTTP header in ASCII");
