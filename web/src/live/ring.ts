/** The last so many of something, in order; the oldest makes room. Nothing is moved when something is added. */
export class Ring<T> {
  private readonly slots: (T | undefined)[]
  private start = 0
  private held = 0

  constructor(readonly capacity: number) {
    this.slots = new Array<T | undefined>(capacity)
  }

  get length(): number {
    return this.held
  }

  push(item: T): void {
    if (this.held < this.capacity) {
      this.slots[(this.start + this.held) % this.capacity] = item
      this.held++
    } else {
      this.slots[this.start] = item
      this.start = (this.start + 1) % this.capacity
    }
  }

  /** The item at a place, counted from the oldest. */
  at(index: number): T | undefined {
    return index < 0 || index >= this.held ? undefined : this.slots[(this.start + index) % this.capacity]
  }

  toArray(): T[] {
    const out = new Array<T>(this.held)
    for (let at = 0; at < this.held; at++) out[at] = this.slots[(this.start + at) % this.capacity] as T
    return out
  }

  clear(): void {
    this.slots.fill(undefined)
    this.start = this.held = 0
  }
}
