// Templates: a list, and the chosen template as JSON to edit.
import { useState } from "preact/hooks";
import type { Template } from "../../client/index.ts";
import { fragment, navigate, query } from "../core/location.ts";
import { copra } from "../core/service.ts";
import { account } from "../core/session.ts";
import { stateOfHash } from "../new-job/state.ts";
import { Button } from "../parts/controls/button.tsx";
import { Link } from "../parts/controls/link.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { useResource } from "../parts/use-resource.ts";
import { StoredTemplate, TemplateEditor } from "./template-editor.tsx";

export default function TemplatesPage() {
  const templates = useResource((signal) => copra.templates.list({ signal }), [account.value?.id]);
  // The page of a job opens this page with its request.
  const [draft] = useState(() => stateOfHash(fragment.peek())?.request ?? null);
  const name = query.value.get("name");
  const isNew = query.value.has("new") || (draft !== null && name === null);
  const saved = (stored: string | null): void => {
    templates.reload();
    navigate(stored === null ? "/templates" : `/templates?name=${encodeURIComponent(stored)}`, { replace: true });
  };
  return (
    <>
      <div class="page-head">
        <h1>Templates</h1>
        <Button icon="add" text="New template" onClick={() => navigate("/templates?new")} />
      </div>
      <div class="stack">
        {isNew && <TemplateEditor key="new" stored={null} body={draft ?? EXAMPLE} done={saved} />}
        {!isNew && name !== null && <StoredTemplate key={name} name={name} done={saved} />}
        <Loaded of={templates} what="the templates">
          {(list) =>
            list.length > 0 ? (
              <section class="card" aria-label="Templates">
                <Table
                  label="List of templates"
                  columns={COLUMNS}
                  rows={list}
                  keyOf={(template) => template.name}
                  isCurrent={(template) => template.name === name}
                />
              </section>
            ) : (
              !isNew && (
                <Empty title="There are no templates yet">
                  <p>
                    A template has sections of a job, such as outputs and storage. Jobs name it and give values of its
                    variables.
                  </p>
                </Empty>
              )
            )
          }
        </Loaded>
      </div>
    </>
  );
}

const COLUMNS: readonly Column<Pick<Template, "name" | "version" | "created_at">>[] = [
  ["Name", ({ name }) => <Link to={`/templates?name=${encodeURIComponent(name)}`}>{name}</Link>],
  ["Version", ({ version }) => version],
  ["Stored", ({ created_at }) => <Time at={created_at} />],
];

const EXAMPLE = {
  storage: { service: "coconut" },
  outputs: { "mp4:720p": { path: "videos/{{ vars.id }}.mp4" } },
  notification: { type: "none" },
};
