// copra audit.
import { adminOf, clientOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import { numberOption, textOption } from "../context.ts";
import { printable } from "../terminal/printable.ts";
import { table } from "../terminal/table.ts";

export const listAudit: Run = async (context, _args, options) => {
  const { output, signal } = context;
  const query = {
    actor: textOption(options, "actor"),
    action: textOption(options, "action"),
    object: textOption(options, "object"),
    cursor: textOption(options, "cursor"),
    limit: numberOption(options, "limit", "--limit"),
  };
  const client = options.allAccounts === true ? await adminOf(context) : (await clientOf(context)).copra;
  const page = await client.audit(query, { signal });
  output.data(page, () =>
    table([
      ["TIME", "BY", "FROM", "ACTION", "OBJECT", "STATUS", "ACCOUNT"].map(output.colors.bold),
      ...page.entries.map(({ created_at, actor, actor_name, ip, action, object, status, account }) => [
        created_at,
        printable(actor_name ?? actor),
        ip ?? "",
        action,
        printable(object),
        String(status),
        account ?? "",
      ]),
    ]),
  );
  if (page.next_cursor !== null) output.words(`More: --cursor ${page.next_cursor}`);
};
