/**
 * How much happened when. A tape counts events into buckets as they come, so that no event has to be kept for it: a bound
 * number of buckets, which grow wider as the tape grows longer. A pulse is what is drawn: a stretch of tapes, evenly cut.
 */
import type { Event } from '@/api/types'

export type Sort = 'call' | 'model' | 'ask' | 'bad'
export const SORTS: readonly Sort[] = ['model', 'call', 'ask', 'bad']

const DENIED = /^(permission|guardian|api)\.denied$|^killswitch$/
const FAILED = /^(tool|turn|model)\.failed$/
const isDenied = (event: Event): boolean => event.decision === 'deny' || event.status === 'denied' || DENIED.test(event.kind)

/** What an event counts as; most count as nothing, so that a call counts once. */
export function sort(event: Event): Sort | null {
  if (isDenied(event) || FAILED.test(event.kind)) return 'bad'
  if (event.kind === 'approval.requested' || event.kind === 'permission.asked') return 'ask'
  if (event.kind === 'tool.finished' || event.kind === 'execution.ended') return 'call'
  if (event.kind === 'model.called') return 'model'
  return null
}

interface Bucket extends Record<Sort, number> {
  events: number
  denied: number
  failed: number
  /** By session. */
  agents: Map<string, number>
}
const nothing = (): Bucket => ({ call: 0, model: 0, ask: 0, bad: 0, events: 0, denied: 0, failed: 0, agents: new Map() })

export class Tape {
  /** Milliseconds a bucket is wide. */
  private width = 1000
  private buckets = new Map<number, Bucket>()

  constructor(private readonly most = 4000) {}

  get size(): number {
    return this.buckets.size
  }

  add(event: Event): void {
    const time = Date.parse(event.time)
    if (!Number.isFinite(time)) return
    const bucket = this.at(Math.floor(time / this.width))
    const kind = sort(event)
    bucket.events++
    if (kind) bucket[kind]++
    if (kind === 'bad') bucket[isDenied(event) ? 'denied' : 'failed']++
    if (event.session_id) bucket.agents.set(event.session_id, (bucket.agents.get(event.session_id) ?? 0) + 1)
    if (this.buckets.size > this.most) this.widen()
  }

  private at(place: number): Bucket {
    let bucket = this.buckets.get(place)
    if (!bucket) this.buckets.set(place, (bucket = nothing()))
    return bucket
  }

  /** Two buckets become one. */
  private widen(): void {
    const before = this.buckets
    this.width *= 2
    this.buckets = new Map()
    for (const [place, from] of before) {
      const into = this.at(Math.floor(place / 2))
      for (const name of ['call', 'model', 'ask', 'bad', 'events', 'denied', 'failed'] as const) into[name] += from[name]
      for (const [id, count] of from.agents) into.agents.set(id, (into.agents.get(id) ?? 0) + count)
    }
  }

  *entries(): Generator<[number, Bucket]> {
    for (const [place, bucket] of this.buckets) yield [place * this.width, bucket]
  }

  clear(): void {
    this.width = 1000
    this.buckets.clear()
  }
}

export class Pulse {
  readonly counts: Record<Sort, Float64Array>
  readonly agents = new Map<string, Float64Array>()
  /** What rates are made of: counted from `since` on, before which not everything is at hand. */
  readonly sums = { events: 0, call: 0, failed: 0, denied: 0 }
  /** When the first of it happened. */
  first = Infinity

  constructor(
    readonly from: number,
    readonly until: number,
    readonly buckets: number,
    tapes: readonly Tape[] = [],
    readonly since = from,
  ) {
    this.counts = { call: new Float64Array(buckets), model: new Float64Array(buckets), ask: new Float64Array(buckets), bad: new Float64Array(buckets) }
    for (const tape of tapes) for (const [time, bucket] of tape.entries()) this.take(time, bucket)
  }

  private take(time: number, bucket: Bucket): void {
    if (time + 1000 < this.from || time >= this.until) return
    this.first = Math.min(this.first, time)
    const at = Math.min(this.buckets - 1, Math.max(0, Math.floor(((time - this.from) / (this.until - this.from)) * this.buckets)))
    for (const kind of SORTS) this.counts[kind][at]! += bucket[kind]
    for (const [id, count] of bucket.agents) {
      let own = this.agents.get(id)
      if (!own) this.agents.set(id, (own = new Float64Array(this.buckets)))
      own[at]! += count
    }
    if (time >= this.since) for (const name of ['events', 'call', 'failed', 'denied'] as const) this.sums[name] += bucket[name]
  }
}
