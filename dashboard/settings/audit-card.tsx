// The audit: who changed what, in the account or in the whole service.
import { useState } from "preact/hooks";
import { admin, copra } from "../core/service.ts";
import { type Account, session } from "../core/session.ts";
import { Card } from "../parts/card.tsx";
import { Link } from "../parts/controls/link.tsx";
import { Select } from "../parts/controls/select.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { useResource } from "../parts/use-resource.ts";

const OF_ACCOUNT = { changes: "Changes in this account", jobs: "Created jobs" };
const OF_SERVICE = { all: "All accounts and the service" };

export function AuditCard({ account }: { readonly account: Account | null }) {
  const options = { ...(account ? OF_ACCOUNT : {}), ...(session.value?.operator ? OF_SERVICE : {}) };
  const [scope, choose] = useState<string>(account ? "changes" : "all");
  const page = useResource(
    (signal) => {
      const query = { limit: 100, action: scope === "jobs" ? "createJob" : undefined };
      return scope === "all" ? admin.audit(query, { signal }) : copra.audit(query, { signal });
    },
    [account?.id, scope],
  );
  const choice = <Select label="Shown changes" options={options} value={scope} choose={choose} />;
  return (
    <Card title="Audit" actions={choice}>
      <Loaded of={page}>
        {({ entries }) => (
          <Table
            label="The newest 100"
            empty="There are none yet."
            rows={entries}
            keyOf={({ id }) => id}
            columns={[
              ["When", ({ created_at }) => <Time at={created_at} />],
              ["Who", ({ actor, actor_name }) => actor_name ?? actor],
              ["Action", ({ action }) => action, "mono"],
              ["What", ({ object }) => (/^jobs\/\w+$/.test(object) ? <Link to={`/${object}`}>{object}</Link> : object)],
              ["From", ({ ip }) => ip, "mono"],
              ["Status", ({ status }) => status, "number"],
              scope === "all" && ["Account", ({ account }) => account, "mono"],
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}
