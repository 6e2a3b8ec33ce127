// Lists credentials, and revokes them.
import { useState } from "preact/hooks";
import { Loading } from "../parts/loading.tsx";
import { confirm } from "../parts/overlays/dialog.tsx";
import { toast, toastError } from "../parts/overlays/toasts.tsx";
import { Problem } from "../parts/problem.tsx";
import { Scroll } from "../parts/scroll.tsx";
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
};

type Options = {
  readonly label: string;
  readonly rows: Resource<readonly Credential[]>;
  readonly revoke: (id: string) => Promise<unknown>;
  /** The consequence of revoking a credential, for the question before it. */
  readonly consequence: string;
};

export function CredentialTable({ label, rows: { value, error, reload }, revoke, consequence }: Options) {
  const [withRevoked, showRevoked] = useState(false);
  if (error !== undefined && value === undefined) return <Problem error={error} retry={reload} />;
  if (value === undefined) return <Loading />;
  const ask = async ({ id, name }: Credential): Promise<void> => {
    const title = `Revoke ${name ?? id}?`;
    if (!(await confirm({ title, text: <p>{consequence}</p>, action: "Revoke", danger: true }))) return;
    try {
      await revoke(id);
      toast(`${name ?? id} is revoked`);
    } catch (reason) {
      toastError(reason);
    }
    reload();
  };
  const shown = value.filter(({ revoked_at }) => withRevoked || revoked_at === null);
  const hidden = value.length - value.filter(({ revoked_at }) => revoked_at === null).length;
  return (
    <>
      <Scroll label={`List of ${label}`}>
        <table>
          <thead>
            <tr>
              <th>Id</th>
              {value.some(({ name }) => name !== undefined) && <th>Name, pool, labels</th>}
              {value.some(({ scopes }) => scopes !== undefined) && <th>Allowed, until</th>}
              <th>Created</th>
              <th>State</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={row.id}>
                <td class="mono">{row.id}</td>
                {row.name !== undefined && (
                  <td>
                    {row.name} <span class="muted">{[row.pool, ...(row.labels ?? [])].join(" · ")}</span>
                  </td>
                )}
                {row.scopes !== undefined && (
                  <td>
                    {row.scopes?.join(" ") ?? "all"}{" "}
                    {row.expires_at != null && (
                      <span class="muted">
                        · <Time at={row.expires_at} />
                      </span>
                    )}
                  </td>
                )}
                <td>
                  <Time at={row.created_at} />
                </td>
                <td>
                  {row.revoked_at === null ? (
                    <button type="button" class="danger" onClick={() => ask(row)}>
                      Revoke<span class="visually-hidden"> {row.name ?? row.id}</span>
                    </button>
                  ) : (
                    <span class="muted">
                      revoked <Time at={row.revoked_at} />
                    </span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {hidden > 0 && (
        <p class="body">
          <label class="check">
            <input
              type="checkbox"
              checked={withRevoked}
              onChange={(event) => showRevoked(event.currentTarget.checked)}
            />
            Show {hidden} revoked
          </label>
        </p>
      )}
    </>
  );
}
