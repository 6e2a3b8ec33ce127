// Creates a job from a template: its source, and the values of its variables.
import type { Template } from "../../client/index.ts";
import { navigate } from "../core/location.ts";
import { copra } from "../core/service.ts";
import { Button } from "../parts/controls/button.tsx";
import { Field, useForm } from "../parts/controls/form.tsx";
import { Dialog } from "../parts/overlays/dialog.tsx";
import { Problem } from "../parts/problem.tsx";

export function UseDialog({ template, close }: { readonly template: Template; readonly close: () => void }) {
  const { onSubmit, error } = useForm(async ({ text, data }) => {
    const values = template.variables.map((name) => [name, String(data.get(`vars.${name}`) ?? "")]);
    const vars = Object.fromEntries(values.filter(([, value]) => value !== ""));
    const request = { template: `${template.name}@${template.version}`, vars };
    const url = text("url");
    const job = await copra.jobs.create(url === "" ? request : { ...request, input: { url } });
    close();
    navigate(`/jobs/${job.id}`);
  });
  return (
    <Dialog title={`A job from ${template.name}@${template.version}`} close={close}>
      <form onSubmit={onSubmit}>
        <div class="dialog-body stack">
          <Problem error={error} />
          <Field label="URL of the source; empty: that of the template" name="url" type="url" />
          {template.variables.map((name) => (
            <Field key={name} label={name} name={`vars.${name}`} />
          ))}
        </div>
        <footer>
          <Button text="Back" onClick={close} />
          <Button type="submit" text="Create the job" class="primary" />
        </footer>
      </form>
    </Dialog>
  );
}
