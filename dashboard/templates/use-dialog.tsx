// Creates a job from a template: its source, and the values of its variables.
import type { Template } from "../../client/index.ts";
import { navigate } from "../core/location.ts";
import { copra } from "../core/service.ts";
import { Field, useForm } from "../parts/controls/form.tsx";
import { FormDialog } from "../parts/overlays/form-dialog.tsx";

export function UseDialog({ template, close }: { readonly template: Template; readonly close: () => void }) {
  const form = useForm(async ({ text, data }) => {
    const values = template.variables.map((name) => [name, String(data.get(`vars.${name}`) ?? "")]);
    const vars = Object.fromEntries(values.filter(([, value]) => value !== ""));
    const request = { template: `${template.name}@${template.version}`, vars };
    const url = text("url");
    const job = await copra.jobs.create(url === "" ? request : { ...request, input: { url } });
    close();
    navigate(`/jobs/${job.id}`);
  });
  return (
    <FormDialog
      title={`A job from ${template.name}@${template.version}`}
      close={close}
      action="Create the job"
      form={form}
    >
      <Field label="URL of the source; empty: that of the template" name="url" type="url" />
      {template.variables.map((name) => (
        <Field key={name} label={name} name={`vars.${name}`} />
      ))}
    </FormDialog>
  );
}
