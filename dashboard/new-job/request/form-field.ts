// A field of the form: a member of a request, with the texts that people need.

export type FormField = {
  /** The member, with `.` between names: `hls.path`. */
  readonly member: string;
  readonly label: string;
  /**
   * `list`: texts, each on a line of its own; `headers`, `pairs`: lines as `Name: value`, `name=value`; `numbers`:
   * separated by commas.
   */
  readonly type: "text" | "number" | "flag" | "choice" | "list" | "headers" | "pairs" | "numbers" | "secret";
  readonly choices?: readonly string[];
  /** An example, shown while the field is empty. */
  readonly example?: string;
  readonly help?: string;
  /** Shown without opening "More". */
  readonly first?: boolean;
};

export const text = (member: string, label: string, more: Partial<FormField> = {}): FormField => ({
  member,
  label,
  type: "text",
  ...more,
});
export const number = (member: string, label: string, more: Partial<FormField> = {}): FormField => ({
  member,
  label,
  type: "number",
  ...more,
});
export const flag = (member: string, label: string, help?: string): FormField => ({
  member,
  label,
  type: "flag",
  ...(help === undefined ? {} : { help }),
});
export const choice = (member: string, label: string, choices: readonly string[], help?: string): FormField => ({
  member,
  label,
  type: "choice",
  choices,
  ...(help === undefined ? {} : { help }),
});
