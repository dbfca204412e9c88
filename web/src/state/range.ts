/** The stretch of time the whole page is about: the last so many minutes, or from one moment to another. */
import { computed } from 'vue'
import { dayClock, now } from '@/lib/time'
import { alter, place } from '@/lib/url'
import { match } from '@/routes'

export const SPANS = [
  ['5m', 'Last 5 min', 5],
  ['15m', 'Last 15 min', 15],
  ['1h', 'Last hour', 60],
  ['6h', 'Last 6 hours', 360],
  ['24h', 'Last 24 hours', 1440],
  ['7d', 'Last 7 days', 10_080],
  ['30d', 'Last 30 days', 43_200],
] as const

/** What a view shows unless the address says otherwise: an error of this morning is still open. */
const usual = computed(() => match(place.value.path)?.route.span ?? '15m')
const minutes = (name: string): number => SPANS.find(([key]) => key === name)?.[2] ?? 15

export const range = computed(() => {
  const { from, until, range: name = usual.value } = place.value.query
  const fixed = from ? Date.parse(from) : NaN
  if (Number.isFinite(fixed)) {
    const end = until ? Date.parse(until) : NaN
    return { from: fixed, until: Number.isFinite(end) ? end : now.value, name: null, moves: !Number.isFinite(end) }
  }
  return { from: now.value - minutes(name) * 60_000, until: now.value, name, moves: true }
})

/** The length of the range, which changes only when somebody changes it. */
export const rangeKey = computed(() => {
  const { from, until, range: name = usual.value } = place.value.query
  return from ? `${from}|${until ?? ''}` : name
})

export const rangeWords = computed(() => {
  const named = SPANS.find(([key]) => key === range.value.name)
  return named ? named[1] : `${dayClock(range.value.from)} to ${range.value.moves ? 'now' : dayClock(range.value.until)}`
})

export const setSpan = (name: string): void => alter({ range: name === usual.value ? null : name, from: null, until: null })
export const setBetween = (from: number, until: number | null): void =>
  alter({ range: null, from: new Date(from).toISOString(), until: until === null ? null : new Date(until).toISOString() })
