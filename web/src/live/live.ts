/**
 * What happens, as it happens: one stream for the whole page, the last events in a ring, Live or Paused.
 *
 * Views listen in batches or read `version`, which changes at most twenty times a second.
 */
import { onScopeDispose, reactive, ref, shallowRef } from 'vue'
import { api, loggedOut } from '@/api/client'
import type { Event, EventSelection } from '@/api/types'
import { Tape } from './pulse'
import { Ring } from './ring'
import { Stream } from './socket'

/** How many events are at hand, and how many characters of them. */
const KEPT = 20_000
const HEAVIEST = 24_000_000

export const recent = new Ring<Event>(KEPT, HEAVIEST)
/** All that came, counted: also what has made room. */
export const tape = new Tape()
/** The first event that is on the tape, and when it was. */
export const begun = { seq: Infinity, at: Infinity }
/** Changes with every batch. */
export const version = ref(0)

export const link = reactive({
  state: 'connecting' as 'connecting' | 'open' | 'lost',
  /** When it was lost. */
  since: null as number | null,
  delay: null as number | null,
  /** How many events came in after the last outage, until all were there. */
  caughtUp: null as number | null,
  refused: null as string | null,
})

/** Paused, new things are counted and not shown. */
export const mode = reactive({ live: true, unseen: 0 })

export function pause(): void {
  mode.live = false
}
export function resume(): void {
  mode.live = true
  mode.unseen = 0
  version.value++
}
export const toggleLive = (): void => (mode.live ? pause() : resume())

const listeners = new Set<(events: readonly Event[]) => void>()
const stream = shallowRef<Stream | null>(null)
let backlog: { count: number; done: ReturnType<typeof setTimeout> } | null = null

/** Everything but measurements, which have questions of their own. */
const ALL: Partial<EventSelection> = {
  kinds: [
    'session', 'prompt', 'tool', 'permission', 'agent', 'turn', 'context', 'model', 'sandbox', 'execution', 'file', 'snapshot', 'limit', 'alert',
    'killswitch', 'guardian', 'approval', 'server', 'error_group', 'registry', 'budget', 'run', 'attempt', 'egress', 'api', 'hook',
  ],
}

/** Begins to listen, with the last page of events as a start. */
export async function begin(): Promise<void> {
  const page = await api.get('/api/v1/events', { query: { limit: 500, kind: (ALL.kinds ?? []).join(',') } }).catch(() => null)
  const events = (page?.items ?? []).toReversed()
  events.forEach((event) => keep(event, JSON.stringify(event.payload ?? null).length + 600))
  hand(events)
  stream.value = new Stream(heard, ALL, events.at(-1)?.seq ?? null)
}

/** Listens to batches while the component is there. */
export function onEvents(listener: (events: readonly Event[]) => void): void {
  listeners.add(listener)
  onScopeDispose(() => listeners.delete(listener))
}

function keep(event: Event, weight: number): void {
  if (event.seq < begun.seq) Object.assign(begun, { seq: event.seq, at: Date.parse(event.time) })
  recent.push(event, weight)
  tape.add(event)
}

function hand(events: readonly Event[]): void {
  listeners.forEach((listener) => listener(events))
  version.value++
}

const heard = {
  batch(events: readonly Event[], weights: readonly number[]): void {
    events.forEach((event, at) => keep(event, weights[at] ?? 0))
    if (!mode.live) mode.unseen += events.length
    if (backlog) backlog.count += events.length
    hand(events)
  },
  link(state: 'connecting' | 'open' | 'lost'): void {
    if (state === 'lost') {
      link.since ??= Date.now()
      // A socket cannot say that it was refused for want of a session; a request can.
      void api.get('/api/v1/whoami').catch(() => undefined)
    }
    if (state === 'open' && link.since !== null) {
      link.since = null
      // What is stored comes at once; when nothing more comes for a while, all of it is there.
      clearTimeout(backlog?.done)
      backlog = { count: 0, done: setTimeout(settle, 700) }
    }
    if (!(state === 'connecting' && link.since !== null)) link.state = state
  },
  delay(ms: number): void {
    link.delay = Math.max(1, Math.round(ms))
  },
  refused(detail: string): void {
    link.refused = detail
  },
}

function settle(): void {
  link.caughtUp = backlog?.count ?? 0
  backlog = null
  setTimeout(() => {
    link.caughtUp = null
  }, 6000)
}

export { loggedOut }
