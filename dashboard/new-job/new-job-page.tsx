// A new job: the form beside the plan, all details of the outputs below them, and a bar that sends the job.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Note } from "../../shared/convert/note.ts";
import { useKeys } from "../core/keyboard.ts";
import { lastShown, navigate } from "../core/location.ts";
import { Icon } from "../parts/icon.tsx";
import { Field } from "./form/field.tsx";
import { Fields } from "./form/fields.tsx";
import { FormErrorsContext } from "./form/form-context.ts";
import { GoalForm } from "./form/goal-form.tsx";
import { OutputsForm } from "./form/outputs-form.tsx";
import { Notes, PasteDialog } from "./form/paste-dialog.tsx";
import { ServiceForm } from "./form/service-form.tsx";
import { StorageForm } from "./form/storage-form.tsx";
import { type TextName, Texts } from "./form/texts.tsx";
import { usePlan } from "./form/use-plan.ts";
import { isObject, withValue } from "./request/edit.ts";
import { NOTIFICATIONS, SETTINGS, TAGS } from "./request/section-fields.ts";
import type { Json } from "./secrets.ts";
import { SendBar } from "./send-bar.tsx";
import { ReadSource, SourceForm } from "./source/source-form.tsx";
import { type Probing, useProbe } from "./source/use-probe.ts";
import { useUpload } from "./source/use-upload.ts";
import { useBuilder } from "./use-builder.ts";
import { useSending } from "./use-sending.ts";
import "./new-job.css";

export default function NewJobPage() {
  const builder = useBuilder();
  const { request, setRequest } = builder;
  const [text, setText] = useState<TextName>("plan");
  const [isPasting, setPasting] = useState(false);
  const [notes, setNotes] = useState<readonly Note[] | null>(null);
  const upload = useUpload((id) => setRequest((before) => ({ ...before, input: { upload: id } })));
  const probing = useProbe(request, upload.state.kind);
  const { probe } = probing;
  const planned = usePlan(request, probe?.status === "completed" ? { probe: probe.id } : {});
  const sending = useSending(request, upload.state.kind);
  useKeys(
    {
      p: { help: "Paste an old request", run: () => setPasting(true) },
      Escape: { help: "Back to the jobs", run: () => navigate(lastShown("/")) },
    },
    "New job",
  );
  useEffect(() => {
    document.title = "New job · Copra";
  }, []);
  const invalid = planned.invalid ?? sending.invalid;
  const missing = sending.tried ? sending.missing : [];
  return (
    <FormErrorsContext.Provider
      value={{ invalid, missing, plan: planned.isCurrent && invalid === null ? planned.plan : null }}
    >
      <div class="page-head">
        <h1>New job</h1>
        <button type="button" onClick={() => setPasting(true)}>
          <Icon name="copy" /> Paste an old request
        </button>
      </div>
      {notes !== null && <Converted notes={notes} close={() => setNotes(null)} />}
      <RequestForm builder={builder} upload={upload} probing={probing} send={sending.send}>
        <section class="card result" aria-label="Plan">
          <Texts
            chosen={text}
            choose={setText}
            request={request}
            set={(next) => setRequest(() => next)}
            planned={planned}
            retry={planned.retry}
            send={sending.send}
            file={upload.state.kind === "none" ? null : upload.state.name}
          />
        </section>
      </RequestForm>
      <SendBar planned={planned} sending={sending} />
      {isPasting && (
        <PasteDialog
          close={() => setPasting(false)}
          use={(converted, found) => {
            setRequest(() => converted);
            setNotes(found);
          }}
        />
      )}
    </FormErrorsContext.Provider>
  );
}

function Converted({ notes, close }: { readonly notes: readonly Note[]; readonly close: () => void }) {
  return (
    <section class="notice converted" aria-label="Notes on the conversion">
      <div>
        <Notes notes={notes} />
      </div>
      <button type="button" class="quiet" aria-label="Close the notes" onClick={close}>
        <Icon name="close" />
      </button>
    </section>
  );
}

function RequestForm({
  builder: { request, setRequest },
  upload,
  probing,
  send,
  children,
}: {
  readonly builder: ReturnType<typeof useBuilder>;
  readonly upload: ReturnType<typeof useUpload>;
  readonly probing: Probing;
  readonly send: () => void;
  readonly children: ComponentChildren;
}) {
  const set = (name: string) => (section: Json) => setRequest((before) => ({ ...before, [name]: section }));
  const section = (name: string): Json => {
    const value = request[name];
    return isObject(value) ? value : {};
  };
  return (
    <form
      class="builder"
      aria-label="The request"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onKeyDown={(event) => {
        // The JSON editor sends by itself.
        if (event.defaultPrevented) return;
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
        // Enter alone would send a half-typed request.
        else if (event.key === "Enter" && event.target instanceof HTMLInputElement) event.preventDefault();
      }}
    >
      <div class="stack">
        <GoalForm outputs={request.outputs} set={set("outputs")} />
        <fieldset class="card">
          <legend>Source</legend>
          <SourceForm input={request.input} set={set("input")} upload={upload} />
          <ReadSource probing={probing} />
        </fieldset>
        <fieldset class="card">
          <legend>Storage</legend>
          <StorageForm section={section("storage")} set={set("storage")} />
        </fieldset>
      </div>
      <div class="stack">
        {children}
        <fieldset class="card">
          <legend>Notification and settings</legend>
          {Array.isArray(request.notification) ? (
            <p class="help">Notifications go to several receivers. The JSON has them.</p>
          ) : (
            <ServiceForm
              name="notification"
              member="type"
              label="Notification"
              services={NOTIFICATIONS}
              section={section("notification")}
              set={set("notification")}
            />
          )}
          <Fields
            fields={SETTINGS}
            more="More settings"
            name="settings"
            section={section("settings")}
            change={(path, value) => setRequest((before) => withValue(before, ["settings", ...path], value))}
          />
          <Field
            field={TAGS}
            name=""
            section={request}
            change={(path, value) => setRequest((before) => withValue(before, path, value))}
          />
        </fieldset>
      </div>
      <OutputsForm outputs={request.outputs} set={set("outputs")} />
    </form>
  );
}
