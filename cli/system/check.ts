// Result of a check of `doctor`.

export type Check = {
  readonly name: string;
  /** `missing`: something that not everybody needs is absent. */
  readonly result: "ok" | "missing" | "failed";
  readonly detail: string;
  /** Instruction for a missing or failed part. */
  readonly advice?: string;
};
