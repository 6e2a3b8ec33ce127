// The module that `drizzle-kit generate` writes: the journal of the migrations, and the SQL of each.
declare const bundled: {
  readonly journal: { readonly entries: readonly { readonly idx: number; readonly tag: string }[] };
  readonly migrations: Readonly<Record<string, string>>;
};
export default bundled;
