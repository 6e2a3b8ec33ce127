// Cloudflare's account API, for tasks that wrangler does not do better. A run of wrangler takes seconds.
import * as z from "zod";
import { reasonOf, type Wrangler } from "../wrangler.ts";

type Env = Readonly<Record<string, string | undefined>>;

const LIMIT_MS = 30_000;

const Answer = z.looseObject({
  success: z.boolean(),
  errors: z.array(z.looseObject({ code: z.number(), message: z.string() })).default([]),
  result: z.unknown(),
});

/** Cloudflare's codes for credentials that are invalid or lack a permission. 7403 is a code of D1. */
const NOT_ALLOWED: ReadonlySet<number> = new Set([7403, 9109, 10000, 10001]);

/** Permissions of a token, by the part of the API that needs them. */
const PERMISSIONS = [
  ["/d1/", "D1: Edit"],
  ["/r2/", "Workers R2 Storage: Edit"],
  ["/workers/", "Workers Scripts: Edit"],
  ["", "Account Settings: Read"],
] as const;

function adviceFor(path: string, code: number): string {
  if (!NOT_ALLOWED.has(code)) return "";
  const permission = PERMISSIONS.find(([part]) => path.includes(part))?.[1];
  return (
    `. The credentials are not valid, or lack a permission: the token needs ${permission}; ` +
    "in a build of Cloudflare it is chosen under Settings → Build → API token (docs/deploying.md)"
  );
}

/** Cloudflare rejected a request. */
export class ApiError extends Error {
  /** Cloudflare's number of the error; 0 if the response has none. */
  readonly code: number;

  constructor(path: string, code: number, message: string) {
    super(`Cloudflare does not accept ${path}: ${message} [code: ${code}]${adviceFor(path, code)}`);
    this.code = code;
  }
}

/** Nobody is signed in to Cloudflare. */
export class NotSignedIn extends Error {
  constructor() {
    super("Sign in to Cloudflare first: npx wrangler login, or set CLOUDFLARE_API_TOKEN (docs/deploying.md)");
  }
}

export class CloudflareApi {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(base: string, headers: Readonly<Record<string, string>>) {
    this.#base = base.replace(/(?<!\/)\/+$/, "");
    this.#headers = headers;
  }

  /** Returns the result of a request. A body makes it a POST. Throws ApiError. */
  async request<Result>(
    path: string,
    schema: z.ZodType<Result>,
    body?: object,
    method: "POST" | "PUT" = "POST",
  ): Promise<Result> {
    const response = await fetch(`${this.#base}${path}`, {
      signal: AbortSignal.timeout(LIMIT_MS),
      headers: { ...this.#headers, "content-type": "application/json" },
      ...(body === undefined ? {} : { method, body: JSON.stringify(body) }),
    });
    const answer = Answer.safeParse(await response.json().catch(() => null));
    if (!answer.success) throw new ApiError(path, 0, `HTTP ${response.status}`);
    const { success, errors, result } = answer.data;
    const [first] = errors;
    if (!success) throw new ApiError(path, first?.code ?? 0, first?.message ?? `HTTP ${response.status}`);
    return schema.parse(result);
  }
}

const Credentials = z.union([
  z.looseObject({ token: z.string() }),
  z.looseObject({ key: z.string(), email: z.string() }),
]);

/** The API with wrangler's credentials: from the environment, or from `wrangler login`. */
export async function openApi(run: Wrangler, env: Env): Promise<CloudflareApi> {
  const base = env.CLOUDFLARE_API_BASE_URL || "https://api.cloudflare.com/client/v4";
  if (env.CLOUDFLARE_API_TOKEN) return new CloudflareApi(base, bearer(env.CLOUDFLARE_API_TOKEN));
  const result = await run(["auth", "token", "--json"]);
  if (result.code !== 0) {
    if (/not logged in/i.test(reasonOf(result))) throw new NotSignedIn();
    throw new Error(reasonOf(result));
  }
  const found = Credentials.parse(JSON.parse(result.stdout));
  return new CloudflareApi(
    base,
    "token" in found
      ? bearer(String(found.token))
      : { "x-auth-key": String(found.key), "x-auth-email": String(found.email) },
  );
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

const Accounts = z.array(z.object({ id: z.string(), name: z.string() }));

/** The account to deploy to: `stated`, or the only account. Throws a message for people if they must choose. */
export async function chooseAccount(api: CloudflareApi, stated: string | undefined): Promise<string> {
  if (stated) return stated;
  const accounts = await api.request("/accounts?per_page=50", Accounts);
  const [only, ...others] = accounts;
  if (only && others.length === 0) return only.id;
  if (!only) throw new Error("The credentials are for no account of Cloudflare: sign in again with npx wrangler login");
  const list = accounts.map(({ id, name }) => `  CLOUDFLARE_ACCOUNT_ID=${id}   ${name}`).join("\n");
  throw new Error(`There are several accounts of Cloudflare: choose an account by the environment\n${list}`);
}
