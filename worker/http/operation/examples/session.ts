// Examples of the responses of /v2/session.

export const EXAMPLE_ACCOUNT = "a_7GXc3T2bRk";
export const EXAMPLE_SECRET = "6t0Kq2VhYwZr1uXbN8mJcE4aPfLs9dGiT7oRyB3x";

export const SESSION_EXAMPLES = {
  Session: {
    account: { id: EXAMPLE_ACCOUNT, name: "studio" },
    scopes: null,
    operator: false,
    expires_at: "2026-11-21T17:23:27.101Z",
  },
  SessionLink: {
    url: `https://copra.example.com/dashboard#once=${EXAMPLE_SECRET}`,
    expires_at: "2026-11-21T05:24:27.101Z",
  },
  SignedOut: { signed_out: true },
};
