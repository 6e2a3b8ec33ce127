// Statistics of a run.

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/** Jain's index of shares: 1 if all are equal, 1/n if a single share has everything. */
export function jainIndex(shares: readonly number[]): number {
  const sum = shares.reduce((total, share) => total + share, 0);
  const squares = shares.reduce((total, share) => total + share ** 2, 0);
  return squares === 0 ? 1 : sum ** 2 / (shares.length * squares);
}

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
