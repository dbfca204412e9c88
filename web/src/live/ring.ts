/** The last so many of something, and at most so much of it, in order; the oldest makes room. Nothing is moved when something is added. */
export class Ring<T> {
  private readonly slots: (T | undefined)[]
  private readonly weights: Float64Array
  private start = 0
  private held = 0
  private weight = 0

  /** `heaviest` bounds the sum of what each is said to weigh. */
  constructor(
    readonly capacity: number,
    readonly heaviest = Infinity,
  ) {
    this.slots = new Array<T | undefined>(capacity)
    this.weights = new Float64Array(capacity)
  }

  get length(): number {
    return this.held
  }

  push(item: T, weight = 0): void {
    while (this.held && (this.held === this.capacity || this.weight + weight > this.heaviest)) this.drop()
    const at = (this.start + this.held) % this.capacity
    this.slots[at] = item
    this.weights[at] = weight
    this.weight += weight
    this.held++
  }

  private drop(): void {
    this.slots[this.start] = undefined
    this.weight -= this.weights[this.start] ?? 0
    this.start = (this.start + 1) % this.capacity
    this.held--
  }

  /** The item at a place, counted from the oldest. */
  at(index: number): T | undefined {
    return index < 0 || index >= this.held ? undefined : this.slots[(this.start + index) % this.capacity]
  }

  toArray(): T[] {
    return Array.from({ length: this.held }, (_, at) => this.at(at) as T)
  }
}
