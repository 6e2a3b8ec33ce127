// Scopes of API keys: the requests that a restricted key may send.

/** The scopes, with the requests that each of them allows. */
export const SCOPES = {
  "jobs:create": "Create, change, cancel and retry jobs; create and read probes; dry runs",
  "jobs:read": "Read jobs, their lists, metadata, events and notifications",
  "templates:use": "Create jobs of templates, with nothing but variables; read templates without their secrets",
  "uploads:create": "Create, send, read and remove uploads; create, read and revoke upload links",
  "usage:read": "Read the usage of the account",
} as const;
export type Scope = keyof typeof SCOPES;

export const SCOPE_NAMES = Object.keys(SCOPES) as [Scope, ...Scope[]];
