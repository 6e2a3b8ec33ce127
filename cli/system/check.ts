// One check of `doctor`.

export type Check = {
  readonly name: string;
  /** `missing` is something that is not necessary for everybody. */
  readonly result: "ok" | "missing" | "failed";
  readonly detail: string;
  /** What to do about it. */
  readonly advice?: string;
};
