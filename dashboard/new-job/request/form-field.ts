// A field of the form: a member of a request, with the texts that people need.
export type FormField = {
  /** The member, with `.` between names: `hls.path`. */
  readonly member: string;
  readonly label: string;
  /**
   * `list`: texts, each on a line of its own; `headers`, `pairs`: lines as `Name: value`, `name=value`; `numbers`:
   * separated by commas; `mixed`: a number or a word.
   */
  readonly type: "text" | "number" | "mixed" | "flag" | "choice" | "list" | "headers" | "pairs" | "numbers" | "secret";
  readonly choices?: readonly string[];
  /** An example, shown while the field is empty. */
  readonly example?: string;
  readonly help?: string;
  /** Shown without opening "More". */
  readonly first?: boolean;
  readonly required?: boolean;
};

/** A field without its texts. */
export type SchemaField = Pick<FormField, "type" | "choices" | "required"> & { readonly limits?: string };
export type SchemaFields = Readonly<Record<string, SchemaField>>;

/** The texts of a field. Its kind is in the schema, except for secrets and lines of names and values. */
export type FieldText = Partial<Omit<FormField, "choices" | "required">> & Pick<FormField, "member" | "label">;

/** The fields that a schema has, in the order of the texts. Required fields come without "More". */
export const withSchema = (texts: readonly FieldText[], fields: SchemaFields | undefined): FormField[] =>
  texts.flatMap(({ help, ...text }) => {
    const found = fields?.[text.member];
    if (found === undefined) return [];
    const { limits, ...kind } = found;
    const below = [help, limits].filter((one) => one !== undefined).join(": ");
    return [{ ...kind, ...(found.required ? { first: true } : {}), ...(below === "" ? {} : { help: below }), ...text }];
  });
