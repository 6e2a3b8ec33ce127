// Fairness between competing accounts: the work that each receives, as a share of its max-min fair part.

/** Max-min fair parts of `total`: equal parts, except for accounts that need less. */
export function maxMinFair(demands: readonly number[], total: number): number[] {
  const fair = demands.map(() => 0);
  let left = Math.min(
    total,
    demands.reduce((sum, demand) => sum + demand, 0),
  );
  let open = demands.map((_, at) => at).toSorted((a, b) => (demands[a] ?? 0) - (demands[b] ?? 0));
  for (const at of open) {
    const share = Math.min(demands[at] ?? 0, left / open.length);
    fair[at] = share;
    left -= share;
    open = open.slice(1);
  }
  return fair;
}

type Contest = { left: number; readonly demands: Map<number, number>; readonly received: Map<number, number> };

export class FairShares {
  /** Work of jobs that no node has started, per account, in ms. */
  readonly #waiting = new Map<number, number>();
  #contest: Contest | null = null;
  /** The received work of each account divided by its fair part; null until the contest ends. */
  shares: readonly number[] | null = null;

  /** Starts a contest between accounts, which ends after this many encodes have started. */
  begin(encodes: number): void {
    this.#contest = { left: encodes, demands: new Map(this.#waiting), received: new Map() };
  }

  submitted(account: number, ms: number): void {
    add(this.#waiting, account, ms);
    if (this.#contest) add(this.#contest.demands, account, ms);
  }

  started(account: number, ms: number): void {
    add(this.#waiting, account, -ms);
    const contest = this.#contest;
    if (!contest) return;
    add(contest.received, account, ms);
    if (--contest.left > 0) return;
    this.#contest = null;
    this.shares = sharesOf(contest);
  }
}

function sharesOf({ demands, received }: Contest): number[] {
  const accounts = [...demands].filter(([, demand]) => demand > 0);
  const total = [...received.values()].reduce((sum, ms) => sum + ms, 0);
  const fair = maxMinFair(
    accounts.map(([, demand]) => demand),
    total,
  );
  return accounts.map(([account], at) => (received.get(account) ?? 0) / (fair[at] ?? 1));
}

const add = (sums: Map<number, number>, account: number, ms: number): void => {
  sums.set(account, (sums.get(account) ?? 0) + ms);
};
