/** Events of the page's range from before the stream began: asked for page by page, newest first, up to a bound. */
import { reactive, shallowRef, watch, onScopeDispose } from 'vue'
import { api, Problem } from '@/api/client'
import type { Event } from '@/api/types'
import { stamp } from '@/lib/time'
import { recent, version } from '@/live/live'
import { range, rangeKey } from './range'

const PAGES = 10

export const past = shallowRef<readonly Event[]>([])
export const history = reactive({
  loading: false,
  /** Whether all of the range is at hand. */
  whole: true,
  problem: null as Problem | null,
})

let loaded = ''
let flight: AbortController | null = null

async function load(): Promise<void> {
  if (loaded === rangeKey.value) return
  loaded = rangeKey.value
  flight?.abort()
  const { signal } = (flight = new AbortController())
  Object.assign(history, { loading: true, whole: true, problem: null })
  const first = recent.at(0)?.seq
  const { from, until, moves } = range.value
  const events: Event[] = []
  try {
    let cursor = first === undefined ? undefined : String(first)
    for (let page = 0; page < PAGES; page++) {
      const answer = await api.get('/api/v1/events', { query: { limit: 1000, cursor, from: stamp(from), ...(moves ? {} : { until: stamp(until) }) }, signal })
      events.push(...answer.items)
      past.value = events.toReversed()
      cursor = answer.next_cursor ?? undefined
      if (!cursor) break
      history.whole = page < PAGES - 1
    }
  } catch (error) {
    if (signal.aborted) return
    history.problem = Problem.of(error)
    loaded = ''
  }
  if (events.length === 0) past.value = []
  history.loading = false
}

/** Keeps the past of the range at hand while a component is there. */
export function useHistory(): void {
  const stop = watch([rangeKey, () => version.value > 0], ([, begun]) => begun && void load(), { immediate: true })
  onScopeDispose(stop)
}

/** Everything at hand, oldest first, each once. */
export function* known(): Generator<Event> {
  const first = recent.at(0)?.seq ?? Infinity
  for (const event of past.value) if (event.seq < first) yield event
  for (let at = 0; at < recent.length; at++) yield recent.at(at) as Event
}
