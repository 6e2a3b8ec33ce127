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
  readonly example?: string | undefined;
  readonly help?: string | undefined;
  /** Shown without opening "More". */
  readonly first?: boolean | undefined;
  readonly required?: boolean;
};

/** A field without its texts. */
export type SchemaField = Pick<FormField, "type" | "choices" | "required"> & {
  readonly limits?: string;
  /** Texts of a declared parameter. `forms`: kinds of outputs whose forms have it. */
  readonly texts?: Omit<FieldText, "member"> & { readonly forms?: readonly string[] | undefined };
};
export type SchemaFields = Readonly<Record<string, SchemaField>>;

/** The texts of a field. Its kind is in the schema, except for secrets and lines of names and values. */
export type FieldText = Partial<Omit<FormField, "choices" | "required">> & Pick<FormField, "member" | "label">;

/** The fields that a schema has, in the order of the texts. Required fields come without "More". */
export const withSchema = (texts: readonly FieldText[], fields: SchemaFields | undefined): FormField[] =>
  texts.flatMap((text) => {
    const schema = fields?.[text.member];
    if (schema === undefined) return [];
    const { type, choices, required, limits } = schema;
    const help = [text.help, limits].filter((part) => part !== undefined).join(": ");
    return [
      {
        ...text,
        type: text.type ?? type,
        first: text.first ?? required,
        help: help === "" ? undefined : help,
        ...(choices ? { choices } : {}),
        ...(required ? { required } : {}),
      },
    ];
  });
