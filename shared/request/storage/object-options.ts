// Options of objects in a bucket: the headers stored with them.
import * as z from "zod";
import { text } from "../parse-section.ts";
import { headerValue } from "./folder.ts";
import type { ObjectOptions } from "./storage-spec.ts";

/** Schema of the values that a service supports. */
export const oneOf = <Value extends string>(...values: [Value, ...Value[]]) =>
  z.enum(values, `must be one of ${values.join(", ")}`).optional();

/** Schema of the canned ACLs that the service supports. */
export const aclOf = <Acl extends string>(...acls: [Acl, ...Acl[]]) => oneOf(...acls).describe(ACL);
/** Schema of the storage classes that the service supports. */
export const classOf = <Class extends string>(...classes: [Class, ...Class[]]) => oneOf(...classes).describe(CLASS);

export const ACL = "Who may read objects; by default as the bucket specifies";
export const CLASS = "The storage class of objects; by default as the bucket specifies";

/** A value that only the service can validate. */
export const anyToken = text(64)
  .regex(/^[\w-]+$/, "must consist of letters, digits, `-` and `_`")
  .optional();

/** An HTTP date (RFC 9110 §5.6.7, the preferred form) or an ISO 8601 date, in UTC or with an offset. */
const DATE =
  /^(?:[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT|\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?)$/;

/** Options that all services share. */
export const OPTION_FIELDS = {
  cache_control: headerValue.optional().describe("The Cache-Control header that objects are served with"),
  expires: text(64)
    .refine(
      (date) => DATE.test(date) && !Number.isNaN(Date.parse(date)),
      "must be a date, such as `Wed, 21 Oct 2026 07:28:00 GMT` or `2026-10-21T07:28:00Z`",
    )
    .transform((date) => new Date(date).toUTCString())
    .optional()
    .describe("The Expires header that objects are served with: an HTTP or ISO 8601 date"),
};

export type OptionFields = {
  cache_control?: string | undefined;
  expires?: string | undefined;
  acl?: string | undefined;
  storage_class?: string | undefined;
};

export const objectOptions = (fields: OptionFields): ObjectOptions => ({
  acl: fields.acl ?? null,
  storageClass: fields.storage_class ?? null,
  cacheControl: fields.cache_control ?? null,
  expires: fields.expires ?? null,
});

/** True if responses contain https URLs. False is for clients that do not support them. */
export const secure = z
  .boolean("must be true or false")
  .default(true)
  .describe("Whether the URLs of outputs start with https; false: http");
