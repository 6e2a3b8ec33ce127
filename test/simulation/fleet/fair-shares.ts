// How evenly accounts are served while they compete: what each gets, as a share of what max-min fairness would give it.

/** What each account gets if all get the same, except those that need less. */
export function maxMinFair(demands: readonly number[], total: number): number[] {
  const fair = demands.map(() => 0);
  let left = Math.min(
    total,
    demands.reduce((sum, demand) => sum + demand, 0),
  );
  let open = demands.map((_, at) => at).toSorted((one, other) => (demands[one] ?? 0) - (demands[other] ?? 0));
  for (const at of open) {
    const given = Math.min(demands[at] ?? 0, left / open.length);
    fair[at] = given;
    left -= given;
    open = open.slice(1);
  }
  return fair;
}

type Contest = { left: number; readonly demands: Map<number, number>; readonly received: Map<number, number> };

export class FairShares {
  /** Of each account, the work of its jobs that no node has begun; ms. */
  readonly #waiting = new Map<number, number>();
  #contest: Contest | null = null;
  /** What the accounts got in the contest, each divided by its fair share; null before the contest is over. */
  shares: readonly number[] | null = null;

  /** From now on, until so many encodes have begun, accounts compete. */
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
