// Schemas of dashboard sessions.
import * as z from "zod";
import { NAMED } from "../named-schemas.ts";
import { strictObject } from "../strict-object.ts";
import { Instant } from "./task-responses.ts";

/** Header with the account for which the operator acts. */
export const ACCOUNT_HEADER = "copra-account";

export const OnceBody = strictObject({
  once: z
    .string("must be a string")
    .max(100, "must have at most 100 characters")
    .describe("The secret of a one-time link"),
  preview: z
    .boolean("must be true or false")
    .exactOptional()
    .describe("Only reads who the link signs in: the link can still be used, and no cookie is set"),
})
  .describe("A one-time link that was opened")
  .register(NAMED, { id: "Once" });

export const LinkBody = strictObject({
  account: z
    .string("must be a string")
    .max(100, "must have at most 100 characters")
    .exactOptional()
    .describe("The account that the operator's session shows first; only with the admin token"),
})
  .describe("Who the link signs in")
  .register(NAMED, { id: "NewSessionLink" });

export const SessionView = z
  .object({
    account: z
      .object({ id: z.string(), name: z.string() })
      .nullable()
      .describe("The account of the session; null for an operator who has chosen none"),
    scopes: z.array(z.string()).nullable().describe("The only requests that the API key may send; null: all requests"),
    operator: z.boolean().describe("Whether the session has the rights of the admin token"),
    expires_at: Instant.nullable().describe("When the session ends; null for an API key or a token itself"),
  })
  .describe("Who sends the request")
  .register(NAMED, { id: "Session" });
export type SessionView = z.infer<typeof SessionView>;

export const SessionLink = z
  .object({
    url: z.url().describe("A page that starts a session with the rights of the credential, once"),
    expires_at: Instant,
  })
  .describe("A one-time link to the dashboard")
  .register(NAMED, { id: "SessionLink" });
export type SessionLink = z.infer<typeof SessionLink>;

export const SignedOut = z
  .object({ signed_out: z.literal(true) })
  .describe("The cookie is removed")
  .register(NAMED, { id: "SignedOut" });
