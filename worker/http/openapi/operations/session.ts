// /v2/session: the sessions of browsers.
import { EXAMPLE_ACCOUNT, EXAMPLE_SECRET } from "../examples/session.ts";
import { type Operation, success } from "../operation.ts";

const session = { tag: "Sessions", access: "session" } as const;

const viewed = (description: string): Operation["responses"] => [success(200, description, "Session")];

export const SESSION_OPERATIONS: readonly Operation[] = [
  {
    ...session,
    method: "get",
    path: "/v2/session",
    id: "getSession",
    summary: "Read who sends the request",
    description:
      "The account of the API key or of the session. The credentials of a session are looked up with each request: a " +
      "revoked API key ends it.",
    responses: viewed("The account, and the rights"),
    codes: [],
  },
  {
    ...session,
    method: "post",
    path: "/v2/session",
    id: "signIn",
    summary: "Sign in",
    description:
      "With an API key or the admin token in the `Authorization` header, and no body, or with the secret of a one-time " +
      "link; with `preview` it only reads who the link signs in. The response sets a cookie for twelve hours, which is a " +
      "credential of all operations of the account, or of the operator. It holds no key. A second credential adds its " +
      "rights to the session, which lasts no longer by it.",
    body: {
      json: "Once",
      isOptional: true,
      examples: {
        link: { summary: "One-time link", value: { once: EXAMPLE_SECRET } },
        preview: { summary: "Who the link signs in", value: { once: EXAMPLE_SECRET, preview: true } },
      },
    },
    responses: viewed("The session; the cookie is in `Set-Cookie`"),
    codes: ["json_not_valid", "request_not_valid", "body_too_large"],
  },
  {
    ...session,
    method: "delete",
    path: "/v2/session",
    id: "signOut",
    summary: "Sign out",
    responses: [success(200, "The cookie is removed", "SignedOut")],
    codes: [],
  },
  {
    ...session,
    method: "post",
    path: "/v2/session/links",
    id: "createSessionLink",
    summary: "Create a one-time link to the dashboard",
    description:
      "It signs a browser in with the rights of the credential, once, within a minute. A session that a session's link starts ends " +
      "with this session.",
    body: {
      json: "NewSessionLink",
      isOptional: true,
      examples: { operator: { summary: "The operator's, for an account", value: { account: EXAMPLE_ACCOUNT } } },
    },
    responses: [success(200, "The link", "SessionLink")],
    codes: ["json_not_valid", "request_not_valid", "body_too_large", "account_not_found"],
  },
];
