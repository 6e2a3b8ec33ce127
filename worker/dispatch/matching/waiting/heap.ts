// A priority queue whose items can be moved and removed anywhere, in O(log n).

export class Heap<Item extends object> {
  readonly #items: Item[] = [];
  readonly #places = new Map<Item, number>();
  readonly #isBefore: (one: Item, other: Item) => boolean;

  constructor(isBefore: (one: Item, other: Item) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  has(item: Item): boolean {
    return this.#places.has(item);
  }

  /** The first item. */
  peek(): Item | null {
    return this.#items[0] ?? null;
  }

  /** Adds an item, or moves it after its order has changed: to be called before another item changes. */
  place(item: Item): void {
    const at = this.#places.get(item);
    if (at === undefined) this.#up(item, this.#items.length);
    else this.#sift(item, at);
  }

  delete(item: Item): void {
    const at = this.#places.get(item);
    if (at === undefined) return;
    this.#places.delete(item);
    const last = this.#items.pop();
    if (last !== undefined && last !== item) this.#sift(last, at);
  }

  /** The items in order; each costs O(log k) for the k items before it. Nothing may change meanwhile. */
  *ordered(): Generator<Item> {
    const candidates = this.#items.length > 0 ? [0] : [];
    while (candidates.length > 0) {
      let first = 0;
      for (let other = 1; other < candidates.length; other++) {
        if (this.#isBefore(this.#item(candidates[other] ?? 0), this.#item(candidates[first] ?? 0))) first = other;
      }
      const [at = 0] = candidates.splice(first, 1);
      yield this.#item(at);
      for (const child of [2 * at + 1, 2 * at + 2]) if (child < this.#items.length) candidates.push(child);
    }
  }

  /** Any of the items, in no order. */
  values(): Iterable<Item> {
    return this.#items;
  }

  #item(at: number): Item {
    const item = this.#items[at];
    if (item === undefined) throw new Error(`The heap has no item ${at}`);
    return item;
  }

  #set(item: Item, at: number): void {
    this.#items[at] = item;
    this.#places.set(item, at);
  }

  #sift(item: Item, at: number): void {
    if (this.#up(item, at) === at) this.#down(item, at);
  }

  #up(item: Item, from: number): number {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      const other = this.#item(parent);
      if (!this.#isBefore(item, other)) break;
      this.#set(other, at);
      at = parent;
    }
    this.#set(item, at);
    return at;
  }

  #down(item: Item, from: number): void {
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#items.length) break;
      if (child + 1 < this.#items.length && this.#isBefore(this.#item(child + 1), this.#item(child))) child += 1;
      const other = this.#item(child);
      if (!this.#isBefore(other, item)) break;
      this.#set(other, at);
      at = child;
    }
    this.#set(item, at);
  }
}
