// Templates: a list, or one of them as JSON to edit.
import { useEffect, useMemo } from "preact/hooks";
import type { TemplateSummary } from "../../client/index.ts";
import { fragment, navigate, query } from "../core/location.ts";
import { copra } from "../core/service.ts";
import { account } from "../core/session.ts";
import { requestOfHash } from "../new-job/state.ts";
import { Button } from "../parts/controls/button.tsx";
import { Link } from "../parts/controls/link.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { useResource } from "../parts/use-resource.ts";
import { StoredTemplate, TemplateEditor } from "./template-editor.tsx";

const addressOf = (name: string): string => `/templates?name=${encodeURIComponent(name)}`;

export default function TemplatesPage() {
  // The page of a job opens this page with its request.
  const draft = useMemo(() => requestOfHash(fragment.value), [fragment.value]);
  const name = query.value.get("name");
  // The link to the template is gone with the list, and takes the focus along.
  useEffect(() => document.getElementById("main")?.focus(), [name]);
  if (name === null && !query.value.has("new") && draft === null) return <TemplateList />;
  const done = (stored: string | null): void =>
    navigate(stored === null ? "/templates" : addressOf(stored), { replace: true });
  return (
    <>
      <nav class="crumbs" aria-label="Breadcrumb">
        <Link to="/templates">Templates</Link>
      </nav>
      <div class="page-head">
        <h1>{name ?? "New template"}</h1>
      </div>
      <div class="stack">
        {name === null ? (
          <TemplateEditor stored={null} body={draft ?? EXAMPLE} done={done} />
        ) : (
          <StoredTemplate key={name} name={name} done={done} />
        )}
      </div>
    </>
  );
}

function TemplateList() {
  const templates = useResource((signal) => copra.templates.list({ signal }), [account.value?.id]);
  return (
    <>
      <div class="page-head">
        <h1>Templates</h1>
        <Button icon="add" text="New template" onClick={() => navigate("/templates?new")} />
      </div>
      <Loaded of={templates} what="the templates">
        {(list) =>
          list.length > 0 ? (
            <section class="card" aria-label="Templates">
              <Table label="List of templates" columns={COLUMNS} rows={list} keyOf={({ name }) => name} />
            </section>
          ) : (
            <Empty title="There are no templates yet">
              <p>
                A template has sections of a job, such as outputs and storage. Jobs name it and give values of its
                variables.
              </p>
            </Empty>
          )
        }
      </Loaded>
    </>
  );
}

const COLUMNS: readonly Column<TemplateSummary>[] = [
  ["Name", ({ name }) => <Link to={addressOf(name)}>{name}</Link>],
  ["Version", ({ version }) => version],
  ["Outputs", ({ outputs }) => outputs.join(", "), "mono"],
  ["Variables", ({ variables }) => variables.join(", "), "mono"],
  ["Stored", ({ created_at }) => <Time at={created_at} />],
];

const EXAMPLE = {
  storage: { service: "coconut" },
  outputs: { "mp4:720p": { path: "videos/{{ vars.id }}.mp4" } },
  notification: { type: "none" },
};
