/** What happened in the page's range before the stream began: read page by page, newest first, up to a bound, and counted. */
import { reactive, watch, onScopeDispose } from 'vue'
import { api, Problem } from '@/api/client'
import { stamp } from '@/lib/time'
import { begun, version } from '@/live/live'
import { Tape } from '@/live/pulse'
import { range, rangeKey } from './range'

const PAGES = 10
/** The first events of a ledger have at most such a number. */
const FIRST = 10

/** The range's past, as far as it was read; `version` changes with it. */
export const past = new Tape()
export const history = reactive({
  version: 0,
  /** Whether all of the range is counted, and if not, since when. */
  since: null as number | null,
  problem: null as Problem | null,
  /** Whether it is still on its way: until then only what the stream began with is counted. */
  reading: true,
  /** The first event that was read, and when it was. */
  first: { seq: Infinity, at: Infinity },
})

let loaded = ''
let flight: AbortController | null = null

async function load(): Promise<void> {
  if (loaded === rangeKey.value) return
  loaded = rangeKey.value
  flight?.abort()
  const { signal } = (flight = new AbortController())
  const { from, until, moves } = range.value
  let cursor = Number.isFinite(begun.seq) ? String(begun.seq) : undefined
  past.clear()
  Object.assign(history, { since: Number.isFinite(begun.at) ? begun.at : null, problem: null, reading: true, first: { seq: Infinity, at: Infinity } })
  try {
    for (let page = 0; page < PAGES; page++) {
      const answer = await api.get('/api/v1/events', { query: { limit: 1000, cursor, from: stamp(from), ...(moves ? {} : { until: stamp(until) }) }, signal })
      if (signal.aborted) return
      for (const event of answer.items) if (event.seq < begun.seq) past.add(event)
      cursor = answer.next_cursor ?? undefined
      const oldest = answer.items.at(-1)
      const at = oldest ? Date.parse(oldest.time) : Infinity
      if (oldest) history.first = { seq: oldest.seq, at }
      history.since = cursor ? at : null
      history.version++
      if (!cursor) break
    }
    history.reading = false
  } catch (error) {
    if (signal.aborted) return
    Object.assign(history, { problem: Problem.of(error), reading: false })
    loaded = ''
  }
}

/** Keeps the past of the range counted while a component is there. */
export function useHistory(): void {
  const stop = watch([rangeKey, () => version.value > 0], ([, begun]) => begun && void load(), { immediate: true })
  onScopeDispose(stop)
}

/** Since when everything is counted, not before a moment. */
export const wholeSince = (from: number): number => (history.since === null ? from : Math.max(from, history.since))

/** When the ledger began, if that is known: then there is nothing before it that could have been counted. */
export function beginning(): number | null {
  const first = history.first.seq < begun.seq ? history.first : begun
  return first.seq <= FIRST ? first.at : null
}
