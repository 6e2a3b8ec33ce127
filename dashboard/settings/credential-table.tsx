// Lists credentials, and revokes them.
import { useState } from "preact/hooks";
import { Button } from "../parts/controls/button.tsx";
import { Check } from "../parts/controls/form.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { confirm } from "../parts/overlays/dialog.tsx";
import { report } from "../parts/overlays/toasts.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import type { Resource } from "../parts/use-resource.ts";

type Credential = {
  readonly id: string;
  readonly created_at: string;
  readonly revoked_at: string | null;
  readonly name?: string;
  readonly pool?: string;
  readonly labels?: readonly string[];
  /** Null: all requests. */
  readonly scopes?: readonly string[] | null;
  readonly expires_at?: string | null;
  /** Null: never. */
  readonly last_used_at?: string | null;
};

type Options = {
  readonly label: string;
  readonly rows: Resource<readonly Credential[]>;
  readonly revoke: (id: string) => Promise<unknown>;
  /** The consequence of revoking a credential, for the question before it. */
  readonly consequence: string;
};

export function CredentialTable({ label, rows, revoke, consequence }: Options) {
  const [withRevoked, showRevoked] = useState(false);
  const ask = async (row: Credential): Promise<void> => {
    const title = `Revoke ${nameOf(row)}?`;
    if (!(await confirm({ title, text: <p>{consequence}</p>, action: "Revoke", danger: true }))) return;
    await report(revoke(row.id), `${nameOf(row)} is revoked`);
    rows.reload();
  };
  const state: Column<Credential> = [
    "State",
    (row) =>
      row.revoked_at === null ? (
        <Button text="Revoke" of={nameOf(row)} class="danger" onClick={() => ask(row)} />
      ) : (
        <span class="muted">
          revoked <Time at={row.revoked_at} />
        </span>
      ),
  ];
  return (
    <Loaded of={rows}>
      {(all) => {
        const hidden = all.filter(({ revoked_at }) => revoked_at !== null).length;
        return (
          <>
            <Table
              label={`List of ${label}`}
              columns={[
                ["Id", ({ id }) => id, "mono"],
                all.some(({ pool }) => pool !== undefined) ? PLACES : ["Name", ({ name }) => name],
                all.some(({ scopes }) => scopes !== undefined) && RIGHTS,
                ["Created", ({ created_at }) => <Time at={created_at} />],
                all.some((row) => row.last_used_at !== undefined) && [
                  "Last used",
                  (row) => <Time at={row.last_used_at} />,
                ],
                state,
              ]}
              rows={all.filter(({ revoked_at }) => withRevoked || revoked_at === null)}
              keyOf={({ id }) => id}
            />
            {hidden > 0 && (
              <p class="body">
                <Check label={`Show ${hidden} revoked`} checked={withRevoked} set={showRevoked} />
              </p>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

const nameOf = ({ name, id }: Credential): string => name || id;

const PLACES: Column<Credential> = [
  "Name, pool, labels",
  ({ name, pool, labels = [] }) => (
    <>
      {name} <span class="muted">{[pool, ...labels].join(" · ")}</span>
    </>
  ),
];

const RIGHTS: Column<Credential> = [
  "Allowed, until",
  ({ scopes, expires_at }) => (
    <>
      {scopes?.join(" ") ?? "all"}{" "}
      {expires_at != null && (
        <span class="muted">
          · <Time at={expires_at} />
        </span>
      )}
    </>
  ),
];
