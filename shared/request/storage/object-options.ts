// What a request may say of the objects in a bucket: headers that they are stored with.
import * as z from "zod";
import { text } from "../parse-section.ts";
import { headerValue } from "./folder.ts";
import type { ObjectOptions } from "./storage-spec.ts";

/** One of the values that a service knows. */
export const oneOf = <Value extends string>(...values: [Value, ...Value[]]) =>
  z.enum(values, `must be one of ${values.join(", ")}`).optional();

/** Which canned ACL objects get, out of those that the service knows. */
export const aclOf = <Acl extends string>(...acls: [Acl, ...Acl[]]) => oneOf(...acls).describe(ACL);
/** Which storage class objects get, out of those that the service knows. */
export const classOf = <Class extends string>(...classes: [Class, ...Class[]]) => oneOf(...classes).describe(CLASS);

export const ACL = "Who may read objects; as the bucket has it unless given";
export const CLASS = "The storage class of objects; as the bucket has it unless given";

/** A value that only the service itself can judge. */
export const anyToken = text(64)
  .regex(/^[\w-]+$/, "must be a name of letters, digits, `-` and `_`")
  .optional();

/** A date of HTTP (RFC 9110 §5.6.7, the preferred form) or of ISO 8601, in UTC or with an offset. */
const DATE =
  /^(?:[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT|\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?)$/;

/** Options that all services have alike. */
export const OPTION_FIELDS = {
  cache_control: headerValue.optional().describe("The Cache-Control header that objects are served with"),
  expires: text(64)
    .refine(
      (date) => DATE.test(date) && !Number.isNaN(Date.parse(date)),
      "must be a date such as `Wed, 21 Oct 2026 07:28:00 GMT` or `2026-10-21T07:28:00Z`",
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

/** Whether clients are shown https addresses; not doing so is for those who cannot take them. */
export const secure = z
  .boolean("must be true or false")
  .default(true)
  .describe("False: the addresses of outputs are shown with http");
