// copra keys and copra node-tokens.
import { SCOPE_NAMES, type Scope } from "#shared/api/scopes.ts";
import { adminOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import { listOption, type Options, textOption } from "../context.ts";
import { usageError } from "../exit.ts";
import { printable } from "../terminal/printable.ts";
import { table } from "../terminal/table.ts";
import { parseDuration, parseTime } from "../terminal/values.ts";

const valid = (revokedAt: string | null): string => (revokedAt === null ? "valid" : `revoked ${revokedAt}`);

/** The values of `--scope`, which may be repeated or have commas. Throws a usage error for an unknown scope. */
function scopesOf(options: Options): Scope[] {
  const names = listOption(options, "scope").flatMap((text) => text.split(","));
  return names.map((text) => {
    const scope = SCOPE_NAMES.find((name) => name === text.trim());
    if (scope) return scope;
    throw usageError(`--scope must be one of ${SCOPE_NAMES.join(", ")}, not "${text.trim()}"`);
  });
}

/** `--expires` as a time: an ISO 8601 date, or a duration from now on. Throws a usage error. */
function endOf(options: Options, now: number): string | undefined {
  const text = textOption(options, "expires");
  if (text === undefined) return undefined;
  const seconds = parseDuration(text);
  const at = seconds === null ? parseTime(text, now) : now + seconds * 1000;
  if (at === null)
    throw usageError(`--expires must be a date such as 2027-01-31, or a time such as 30d, not "${text}"`);
  return new Date(at).toISOString();
}

export const listKeys: Run = async (context, [account = ""]) => {
  const { output, signal } = context;
  const keys = await (await adminOf(context)).keys.list(account, { signal });
  output.data({ keys }, () =>
    table([
      ["KEY", "NAME", "CREATED", "LAST USED", "SCOPES", "EXPIRES", ""].map(output.colors.bold),
      ...keys.map(({ id, name, created_at, last_used_at, revoked_at, scopes, expires_at }) => [
        id,
        printable(name),
        created_at,
        last_used_at ?? "never",
        scopes?.join(",") ?? "all",
        expires_at ?? "never",
        valid(revoked_at),
      ]),
    ]),
  );
};

export const createKey: Run = async (context, [account = ""], options) => {
  const { output, signal } = context;
  const name = textOption(options, "name");
  const scopes = scopesOf(options);
  const expires = endOf(options, context.now());
  const key = {
    ...(name === undefined ? {} : { name }),
    ...(scopes.length > 0 ? { scopes } : {}),
    ...(expires === undefined ? {} : { expires_at: expires }),
  };
  const created = await (await adminOf(context)).keys.create(account, { signal, ...key });
  output.data(created, () => created.api_key);
  output.words(`Key ${created.id}; it is shown only now`);
};

export const revokeKey: Run = async (context, [id = ""]) => {
  const { output, signal } = context;
  const revoked = await (await adminOf(context)).keys.revoke(id, { signal });
  output.data(revoked, () => `${revoked.id} is revoked`);
};

export const listTokens: Run = async (context) => {
  const { output, signal } = context;
  const tokens = await (await adminOf(context)).nodeTokens.list({ signal });
  output.data({ node_tokens: tokens }, () =>
    table([
      ["TOKEN", "NAME", "POOL", "LABELS", "CREATED", ""].map(output.colors.bold),
      ...tokens.map(({ id, name, pool, labels, created_at, revoked_at }) => [
        id,
        printable(name),
        pool,
        labels.join(" "),
        created_at,
        valid(revoked_at),
      ]),
    ]),
  );
};

export const createToken: Run = async (context, [name = ""], options) => {
  const { output, signal } = context;
  const pool = textOption(options, "pool");
  const labels = listOption(options, "label");
  const admin = await adminOf(context);
  const token = {
    name,
    ...(pool === undefined ? {} : { pool }),
    ...(labels.length > 0 ? { labels: [...labels] } : {}),
  };
  const created = await admin.nodeTokens.create(token, { signal });
  output.data(created, () => created.node_token);
  output.words(`Token ${created.id} for pool ${created.pool}; it is shown only now`);
};

export const revokeToken: Run = async (context, [id = ""]) => {
  const { output, signal } = context;
  const revoked = await (await adminOf(context)).nodeTokens.revoke(id, { signal });
  output.data(revoked, () => `${revoked.id} is revoked; its nodes are disconnected`);
};
