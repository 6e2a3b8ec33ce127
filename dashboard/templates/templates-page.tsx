// Templates: a list, and the chosen template as JSON to edit.
import { useState } from "preact/hooks";
import { fragment, navigate, query } from "../core/location.ts";
import { copra } from "../core/service.ts";
import { account } from "../core/session.ts";
import { stateOfHash } from "../new-job/state.ts";
import { Empty } from "../parts/empty.tsx";
import { Icon } from "../parts/icon.tsx";
import { Link } from "../parts/link.tsx";
import { Loading } from "../parts/loading.tsx";
import { Problem } from "../parts/problem.tsx";
import { Scroll } from "../parts/scroll.tsx";
import { Time } from "../parts/time.tsx";
import { useResource } from "../parts/use-resource.ts";
import { StoredTemplate, TemplateEditor } from "./template-editor.tsx";

export default function TemplatesPage() {
  const { value, error, reload } = useResource((signal) => copra.templates.list({ signal }), [account.value?.id]);
  // The page of a job opens this page with its request.
  const [draft] = useState(() => stateOfHash(fragment.peek())?.request ?? null);
  const name = query.value.get("name");
  const isNew = query.value.has("new") || (draft !== null && name === null);
  const saved = (stored: string | null): void => {
    reload();
    navigate(stored === null ? "/templates" : `/templates?name=${encodeURIComponent(stored)}`, { replace: true });
  };
  return (
    <>
      <div class="page-head">
        <h1>Templates</h1>
        <button type="button" onClick={() => navigate("/templates?new")}>
          <Icon name="add" /> New template
        </button>
      </div>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {value === undefined && error === undefined && <Loading what="the templates" />}
      <div class="stack">
        {isNew && <TemplateEditor key="new" stored={null} body={draft ?? EXAMPLE} done={saved} />}
        {!isNew && name !== null && <StoredTemplate key={name} name={name} done={saved} />}
        {value?.length === 0 && !isNew && (
          <Empty title="There are no templates yet">
            <p>
              A template has sections of a job, such as outputs and storage. Jobs name it and give values of its
              variables.
            </p>
          </Empty>
        )}
        {value !== undefined && value.length > 0 && (
          <section class="card" aria-label="Templates">
            <Scroll label="List of templates">
              <table>
                <thead>
                  <tr>
                    <th>Name</th>
                    <th>Version</th>
                    <th>Stored</th>
                  </tr>
                </thead>
                <tbody>
                  {value.map((template) => (
                    <tr key={template.name} aria-current={template.name === name ? "true" : undefined}>
                      <td>
                        <Link to={`/templates?name=${encodeURIComponent(template.name)}`}>{template.name}</Link>
                      </td>
                      <td>{template.version}</td>
                      <td>
                        <Time at={template.created_at} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          </section>
        )}
      </div>
    </>
  );
}

const EXAMPLE = {
  storage: { service: "coconut" },
  outputs: { "mp4:720p": { path: "videos/{{ vars.id }}.mp4" } },
  notification: { type: "none" },
};
