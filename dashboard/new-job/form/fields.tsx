// The fields of a section of the request.
import { valueAt } from "../request/edit.ts";
import type { FormField } from "../request/form-field.ts";
import { Field, type FieldProps } from "./field.tsx";

/** Fields in a grid. Rarely used fields are behind "More". */
export function Fields({
  fields,
  more = "More",
  ...rest
}: Omit<FieldProps, "field"> & { readonly fields: readonly FormField[]; readonly more?: string }) {
  const first = fields.filter((field) => field.first);
  const others = fields.filter((field) => !field.first);
  const used = others.filter((field) => valueAt(rest.section, field.member.split(".")) !== undefined).length;
  return (
    <>
      <div class="form-grid">
        {first.map((field) => (
          <Field key={field.member} field={field} {...rest} />
        ))}
      </div>
      {others.length > 0 && (
        <details class="more">
          <summary>
            {more}
            {used > 0 && <span class="chip">{used} set</span>}
          </summary>
          <div class="form-grid">
            {others.map((field) => (
              <Field key={field.member} field={field} {...rest} />
            ))}
          </div>
        </details>
      )}
    </>
  );
}
