/**
 * Everything of a session, however long: read forward page by page, and from then on only the end of it.
 *
 * Owns: the pages that are at hand. A call's outcome comes after its beginning, so pages with calls that go on are read
 * again, a few of them; those before do not change any more.
 */
import { api } from '@/api/client'
import type { Call, Event, TraceItem } from '@/api/types'

const PAGE = 1000
/** How many pages before the last are read again for calls that go on. */
const BACK = 3

interface Part<T> {
  cursor: string | undefined
  items: readonly T[]
}
type Ask<T> = (cursor: string | undefined, signal: AbortSignal) => Promise<{ items: T[]; next_cursor?: string | null }>

class Pages<T> {
  private parts: Part<T>[] = []

  constructor(
    private readonly ask: Ask<T>,
    private readonly changes: (item: T) => boolean,
  ) {}

  /** All of it; `seen` is told while more is on its way. */
  async read(signal: AbortSignal, seen?: (items: T[]) => void): Promise<T[]> {
    const open = this.parts.findIndex((part) => part.items.some(this.changes))
    const from = Math.max(0, Math.max(this.parts.length - 1 - BACK, open < 0 ? this.parts.length - 1 : open))
    let at = Math.min(from, Math.max(0, this.parts.length - 1))
    let cursor = this.parts[at]?.cursor
    for (;;) {
      const page = await this.ask(cursor, signal)
      if (signal.aborted) break
      this.parts[at] = { cursor, items: page.items }
      cursor = page.next_cursor ?? undefined
      if (!cursor) {
        this.parts.length = at + 1
        break
      }
      at++
      if (at % 10 === 0) seen?.(this.all())
    }
    return this.all()
  }

  private all(): T[] {
    return this.parts.flatMap((part) => part.items)
  }
}

/** The trace of one session. */
export const traceOf = (id: string): Pages<TraceItem> =>
  new Pages<TraceItem>((cursor, signal) => api.get('/api/v1/sessions/{id}/trace', { path: { id }, query: { limit: PAGE, cursor }, signal }), (item) => item.type === 'call' && !(item as Call).outcome)

/** What was said in it, oldest first. */
export const saidIn = (id: string): { read: (signal: AbortSignal) => Promise<Event[]> } => {
  const heard: Event[] = []
  return {
    async read(signal) {
      for (;;) {
        const page = await api.get('/api/v1/events', { query: { session_id: id, kind: 'hook.message', after: heard.at(-1)?.seq ?? 0, limit: PAGE }, signal })
        heard.push(...page.items)
        if (signal.aborted || page.items.length < PAGE) return [...heard]
      }
    },
  }
}

/** The same reader for the same session, for views of several; those long unused make room. */
export function once<T>(make: (id: string) => T): (id: string) => T {
  const known = new Map<string, T>()
  return (id) => {
    const found = known.get(id) ?? make(id)
    known.delete(id)
    known.set(id, found)
    if (known.size > 60) known.delete(known.keys().next().value ?? '')
    return found
  }
}
