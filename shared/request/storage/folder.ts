// Fields that several storage services share.
import * as z from "zod";
import { MAX_NAME_BYTES, nameBytes } from "../../job/object-name.ts";
import { cleanPath } from "../clean-path.ts";
import { required, text } from "../parse-section.ts";

/** Folder of a storage that contains all objects of a job. Leading and trailing slashes are ignored. */
export const folder = z
  .string("must be a string")
  .max(512, "must have at most 512 characters")
  .check(cleanPath)
  .default("")
  .describe("The folder that contains all outputs of the job");

/** Value of a header that is served with objects. */
export const headerValue = text(256).regex(/^[\x20-\x7e]+$/, "must be the value of an HTTP header in ASCII");

/** Name of a source in a bucket, container or folder, without a leading slash. */
const keyIn = (place: string) =>
  z
    .string(required(`: the path of the media file in the ${place}, such as in/video.mp4`, "must be a string"))
    .min(1, "must not be empty")
    .refine((value) => nameBytes(value) <= MAX_NAME_BYTES, `must have at most ${MAX_NAME_BYTES} bytes`)
    .check(cleanPath)
    .transform((value) => value.replace(/^\//, ""))
    .describe(`The path of the media file in the ${place}; a leading slash is ignored`);

export const objectKey = keyIn("bucket");
export const folderKey = keyIn("folder");
