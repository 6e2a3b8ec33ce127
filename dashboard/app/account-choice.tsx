// The account that an operator looks at.
import { admin } from "../core/service.ts";
import { account, chooseAccount, session } from "../core/session.ts";
import { Empty } from "../parts/empty.tsx";
import { Loading } from "../parts/loading.tsx";
import { Problem } from "../parts/problem.tsx";
import { Time } from "../parts/time.tsx";
import { useResource } from "../parts/use-resource.ts";

/** Where an operator without an account chooses one. */
export function AccountChoice() {
  const { value, error, reload } = useResource((signal) => admin.accounts.list({ signal }), []);
  if (!session.value?.operator) return null;
  if (error) return <Problem error={error} retry={reload} />;
  if (!value) return <Loading />;
  return (
    <section class="card account-choice">
      <header>
        <h1>Choose an account</h1>
      </header>
      {value.length === 0 ? (
        <Empty title="There is no account yet">
          <p>
            Create one with <code>npm run copra -- accounts create NAME</code>
          </p>
        </Empty>
      ) : (
        <ul>
          {value.map(({ id, name, created_at }) => (
            <li key={id}>
              <button type="button" class="quiet" onClick={() => chooseAccount({ id, name })}>
                <b>{name}</b>
                <span class="mono">{id}</span>
                <span>
                  created <Time at={created_at} />
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Which account is shown; operators change it. */
export function AccountMenu() {
  const shown = account.value;
  if (!session.value?.operator) return shown && <span class="account ellipsis">{shown.name}</span>;
  return (
    <button type="button" class="quiet account" onClick={() => chooseAccount(null)} title="Choose another account">
      <span class="visually-hidden">Account:</span>
      <span class="ellipsis">{shown?.name ?? "No account"}</span>
      <span class="chip">operator</span>
    </button>
  );
}
