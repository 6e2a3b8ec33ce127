// copra keys and copra node-tokens.
import { adminOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import { listOption, textOption } from "../context.ts";
import { EXIT } from "../exit.ts";
import { printable } from "../terminal/printable.ts";
import { table } from "../terminal/table.ts";

const valid = (revokedAt: string | null): string => (revokedAt === null ? "valid" : `revoked ${revokedAt}`);

export const listKeys: Run = async (context, [account = ""]) => {
  const { output, signal } = context;
  const keys = await (await adminOf(context)).keys.list(account, { signal });
  output.data({ keys }, () => table(keys.map(({ id, created_at, revoked_at }) => [id, created_at, valid(revoked_at)])));
  return EXIT.done;
};

export const createKey: Run = async (context, [account = ""]) => {
  const { output, signal } = context;
  const created = await (await adminOf(context)).keys.create(account, { signal });
  output.data(created, () => created.api_key);
  output.words(`Key ${created.id}; it is shown only now`);
  return EXIT.done;
};

export const revokeKey: Run = async (context, [id = ""]) => {
  const { output, signal } = context;
  const revoked = await (await adminOf(context)).keys.revoke(id, { signal });
  output.data(revoked, () => `${revoked.id} is revoked`);
  return EXIT.done;
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
  return EXIT.done;
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
  return EXIT.done;
};

export const revokeToken: Run = async (context, [id = ""]) => {
  const { output, signal } = context;
  const revoked = await (await adminOf(context)).nodeTokens.revoke(id, { signal });
  output.data(revoked, () => `${revoked.id} is revoked; its nodes are disconnected`);
  return EXIT.done;
};
