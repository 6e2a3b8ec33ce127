// /v2/session: the sessions of browsers.
import { LinkBody, OnceBody, SessionLink, SessionView, SignedOut } from "#shared/api/session.ts";
import { EXAMPLE_ACCOUNT, EXAMPLE_SECRET } from "../operation/examples/session.ts";
import { operations, success } from "../operation/operation.ts";

export const SESSION_OPERATIONS = operations({ tag: "Sessions", access: "session" })({
  getSession: {
    route: "GET /v2/session",
    summary: "Read who sends the request",
    description:
      "The account of the API key or of the session. The credentials of a session are looked up with each request: a " +
      "revoked API key ends it.",
    responses: [success(200, "The account, and the rights", SessionView)],
  },
  signIn: {
    route: "POST /v2/session",
    summary: "Sign in",
    description:
      "With an API key or the admin token in the `Authorization` header, and no body, or with the secret of a one-time " +
      "link; with `preview` it only reads who the link signs in. The response sets a cookie for twelve hours, which is a " +
      "credential of all operations of the account, or of the operator. It holds no key. A second credential adds its " +
      "rights to the session, which lasts no longer by it.",
    body: {
      json: OnceBody,
      isOptional: true,
      examples: {
        link: { summary: "One-time link", value: { once: EXAMPLE_SECRET } },
        preview: { summary: "Who the link signs in", value: { once: EXAMPLE_SECRET, preview: true } },
      },
    },
    responses: [success(200, "The session; the cookie is in `Set-Cookie`", SessionView)],
  },
  signOut: {
    route: "DELETE /v2/session",
    summary: "Sign out",
    responses: [success(200, "The cookie is removed", SignedOut)],
  },
  createSessionLink: {
    route: "POST /v2/session/links",
    summary: "Create a one-time link to the dashboard",
    description:
      "It signs a browser in with the rights of the credential, once, within a minute. A session that a session's link starts ends " +
      "with this session.",
    body: {
      json: LinkBody,
      isOptional: true,
      examples: { operator: { summary: "The operator's, for an account", value: { account: EXAMPLE_ACCOUNT } } },
    },
    responses: [success(200, "The link", SessionLink)],
    codes: ["account_not_found"],
  },
});
