// copra accounts, copra audit and copra reseal.
import { adminOf, clientOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import { textOption } from "../context.ts";
import { EXIT, usageError } from "../exit.ts";
import { printable } from "../terminal/printable.ts";
import { table } from "../terminal/table.ts";

export const listAccounts: Run = async (context) => {
  const { output, signal } = context;
  const accounts = await (await adminOf(context)).accounts.list({ signal });
  output.data({ accounts }, () =>
    table([
      ["ACCOUNT", "NAME", "CREATED", "JOBS", "RUNNING", "PRIORITY", "WEIGHT"].map(output.colors.bold),
      ...accounts.map(({ id, name, created_at, max_unfinished_jobs, max_running, max_priority, weight }) => [
        id,
        printable(name),
        created_at,
        max_unfinished_jobs === null ? "default" : String(max_unfinished_jobs),
        max_running === null ? "any" : String(max_running),
        max_priority === null ? "own jobs" : `up to ${max_priority}`,
        String(weight),
      ]),
    ]),
  );
};

export const createAccount: Run = async (context, [name = ""]) => {
  const { output, signal } = context;
  const created = await (await adminOf(context)).accounts.create(name, { signal });
  output.data(created, () =>
    table([
      ["account", created.account_id],
      ["API key", created.api_key],
      ["webhook secret", created.webhook_secret],
    ]),
  );
  output.words("Key and secret are shown only now");
};

type LimitName = "max_unfinished_jobs" | "max_running" | "max_priority" | "weight";

/** Sets a limit of an account. */
export const setLimit =
  (limit: LimitName): Run =>
  async (context, [account = "", text = ""]) => {
    const isDefault = text === "default" && limit !== "weight";
    if (!isDefault && !/^-?\d{1,6}$/.test(text)) {
      throw usageError(`The number must be a whole number${limit === "weight" ? "" : ' or "default"'}, not "${text}"`);
    }
    const { output, signal } = context;
    const admin = await adminOf(context);
    const limits = await admin.accounts.setLimits(account, { [limit]: isDefault ? null : Number(text) }, { signal });
    output.data(limits, () => table(Object.entries(limits).map(([name, value]) => [name, String(value ?? "default")])));
  };

export const rotateAccountSecret: Run = async (context, [account = ""]) => {
  const { output, signal } = context;
  const created = await (await adminOf(context)).accounts.rotateWebhookSecret(account, { signal });
  output.data(created, () => created.webhook_secret);
  output.words(`Shown only now. The previous secret also signs until ${created.previous_until}`);
};

export const listAudit: Run = async (context, _args, options) => {
  const { output, signal } = context;
  const filters = ["actor", "action", "object", "limit", "cursor"] as const;
  const query = Object.fromEntries(filters.map((name) => [name, textOption(options, name)]));
  const client = options.allAccounts === true ? await adminOf(context) : (await clientOf(context)).copra;
  const page = await client.audit(query, { signal });
  output.data(page, () =>
    table([
      ["TIME", "BY", "FROM", "ACTION", "OBJECT", "STATUS", "ACCOUNT"].map(output.colors.bold),
      ...page.entries.map(({ created_at: at, actor, actor_name, ip, action, object, status, account }) => {
        return [at, printable(actor_name ?? actor), ip ?? "", action, printable(object), `${status}`, account ?? ""];
      }),
    ]),
  );
  if (page.next_cursor !== null) output.words(`More: --cursor ${page.next_cursor}`);
};

export const resealSecrets: Run = async (context) => {
  const { output, signal } = context;
  const admin = await adminOf(context);
  const failed: { id: string; message: string }[] = [];
  let resealed = 0;
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof admin.reseal>> = await admin.reseal(cursor, { signal });
    resealed += page.resealed;
    failed.push(...page.failed);
    cursor = page.next_cursor;
    if (cursor !== null) output.words(`${resealed} secrets are encrypted with the first key`);
  } while (cursor !== null);
  output.data({ resealed, failed, next_cursor: null }, () =>
    [
      `${resealed} secrets are encrypted with the first key`,
      ...failed.map(({ id, message }) => `${id}: ${message}`),
    ].join("\n"),
  );
  return failed.length > 0 ? EXIT.failed : EXIT.done;
};
