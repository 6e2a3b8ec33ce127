// Who is signed in.
import { signal } from "@preact/signals";

export type Session = {
  /** The account whose jobs are shown; null for an operator without one. */
  readonly account: { readonly id: string; readonly name: string } | null;
  /** Whether the session has the admin token's rights. */
  readonly operator: boolean;
};

/** null: nobody is signed in; undefined: not known yet. */
export const session = signal<Session | null | undefined>(undefined);
