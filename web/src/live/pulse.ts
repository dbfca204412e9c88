/** How much happened when: events put into buckets of time, by what they are and by whom. */
import type { Event } from '@/api/types'

export type Sort = 'call' | 'model' | 'ask' | 'bad'

/** What an event counts as; most count as nothing, so that a call counts once. */
export function sort(event: Event): Sort | null {
  if (event.decision === 'deny' || event.status === 'denied' || /^(tool|turn|model)\.failed$|^(permission|guardian|api)\.denied$|^killswitch$/.test(event.kind)) return 'bad'
  if (event.kind === 'approval.requested' || event.kind === 'permission.asked') return 'ask'
  if (event.kind === 'tool.finished' || event.kind === 'execution.ended') return 'call'
  if (event.kind === 'model.called') return 'model'
  return null
}

export const SORTS: readonly Sort[] = ['model', 'call', 'ask', 'bad']

export class Pulse {
  readonly counts: Record<Sort, Float64Array>
  readonly agents = new Map<string, Float64Array>()
  events = 0
  cost = 0

  constructor(
    readonly from: number,
    readonly until: number,
    readonly buckets: number,
  ) {
    this.counts = { call: new Float64Array(buckets), model: new Float64Array(buckets), ask: new Float64Array(buckets), bad: new Float64Array(buckets) }
  }

  add(event: Event): void {
    const time = Date.parse(event.time)
    if (time < this.from || time >= this.until) return
    this.events++
    const told = (event.payload as { cost_micros?: unknown } | undefined)?.cost_micros
    this.cost += (event.cost_micros ?? (typeof told === 'number' ? told : 0)) / 1e6
    const at = Math.min(this.buckets - 1, Math.floor(((time - this.from) / (this.until - this.from)) * this.buckets))
    const kind = sort(event)
    if (kind) this.counts[kind][at]!++
    if (event.session_id) {
      let own = this.agents.get(event.session_id)
      if (!own) this.agents.set(event.session_id, (own = new Float64Array(this.buckets)))
      own[at]!++
    }
  }
}
