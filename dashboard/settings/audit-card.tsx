// The audit: who changed what, in the account or in the whole service.
import { useState } from "preact/hooks";
import type { AuditList } from "../../client/index.ts";
import { admin, copra } from "../core/service.ts";
import { type Account, session } from "../core/session.ts";
import { Card } from "../parts/card.tsx";
import { Button } from "../parts/controls/button.tsx";
import { Link } from "../parts/controls/link.tsx";
import { Select } from "../parts/controls/select.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { useResource } from "../parts/use-resource.ts";

type Entry = AuditList["entries"][number];

const SCOPES = { account: "Changes in this account", jobs: "Created jobs", all: "All accounts and the service" };

export function AuditCard({ account }: { readonly account: Account | null }) {
  const { all, ...ofAccount } = SCOPES;
  const options = { ...(account ? ofAccount : {}), ...(session.value?.operator ? { all } : {}) };
  const [{ scope, cursor }, show] = useState<{ readonly scope: keyof typeof SCOPES; readonly cursor?: string }>({
    scope: account ? "account" : "all",
  });
  const page = useResource(
    (signal) => {
      const query = { cursor, ...(scope === "jobs" ? { action: "createJob" } : {}) };
      return scope === "all" ? admin.audit(query, { signal }) : copra.audit(query, { signal });
    },
    [account?.id, scope, cursor],
  );
  const choice = <Select label="Shown changes" options={options} value={scope} choose={(scope) => show({ scope })} />;
  return (
    <Card title="Audit" actions={choice}>
      <Loaded of={page}>
        {({ entries, next_cursor }) => (
          <>
            <Table
              label="Changes, newest first"
              empty="There are none yet."
              rows={entries}
              keyOf={({ id }) => id}
              columns={[...COLUMNS, scope === "all" && ["Account", ({ account }) => account, "mono"]]}
            />
            {(cursor !== undefined || next_cursor !== null) && (
              <div class="body row">
                <Button text="Newest" disabled={cursor === undefined} onClick={() => show({ scope })} />
                <Button
                  text="Older"
                  disabled={next_cursor === null}
                  onClick={() => next_cursor !== null && show({ scope, cursor: next_cursor })}
                />
              </div>
            )}
          </>
        )}
      </Loaded>
    </Card>
  );
}

const COLUMNS: readonly Column<Entry>[] = [
  ["When", ({ created_at }) => <Time at={created_at} />],
  ["Who", ({ actor, actor_name }) => actor_name ?? (actor === "operator" ? "the operator" : <code>{actor}</code>)],
  ["Action", ({ action }) => sentenceOf(action)],
  ["What", ({ object }) => (/^jobs\/\w+$/.test(object) ? <Link to={`/${object}`}>{object}</Link> : object), "mono"],
  ["From", ({ ip }) => ip, "mono"],
  ["Status", ({ status }) => status, "number"],
];

/** `rotateWebhookSecret` as "Rotate webhook secret". */
const sentenceOf = (action: string): string =>
  action.charAt(0).toUpperCase() + action.slice(1).replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
