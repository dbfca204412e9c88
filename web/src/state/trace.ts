/**
 * Everything of a session, however long: read forward page by page, and from then on only the end of it.
 *
 * Owns: the pages that are at hand. A call's outcome comes after its beginning, so pages with calls that go on are read
 * again, a few of them; those before do not change any more.
 */
import { api } from '@/api/client'
import type { Call, Event, TraceItem } from '@/api/types'

const PAGE = 1000
/** While more is on its way, what is there is shown after the first page and then after each so many. */
const SHOWN = 12
/** Of an input no more is kept; whoever wants all of it asks for the call. */
const INPUT = 8000
const WORDS = 40_000
/** How many pages before the last are read again for calls that go on. */
const BACK = 3

interface Part<T> {
  cursor: string | undefined
  items: readonly T[]
}
type Ask<T> = (cursor: string | undefined, signal: AbortSignal) => Promise<{ items: T[]; next_cursor?: string | null }>

export class Pages<T> {
  private parts: Part<T>[] = []
  private whole: readonly T[] = []

  constructor(
    private readonly ask: Ask<T>,
    private readonly changes: (item: T) => boolean,
    private readonly slim: (item: T) => T,
  ) {}

  /** All of it, the same list if nothing is new; `seen` is shown what is there while more is on its way. */
  async read(signal: AbortSignal, seen?: (items: readonly T[]) => void): Promise<readonly T[]> {
    const open = this.parts.findIndex((part) => part.items.some(this.changes))
    const from = Math.max(0, Math.max(this.parts.length - 1 - BACK, open < 0 ? this.parts.length - 1 : open))
    let at = Math.min(from, Math.max(0, this.parts.length - 1))
    let cursor = this.parts[at]?.cursor
    const isFirst = this.whole.length === 0
    for (let read = 0; ; read++) {
      const page = await this.ask(cursor, signal)
      if (signal.aborted) break
      this.put(at, { cursor, items: page.items.map(this.slim) })
      cursor = page.next_cursor ?? undefined
      if (!cursor) {
        if (this.parts.length > at + 1) this.whole = []
        this.parts.length = at + 1
        break
      }
      at++
      if (isFirst && read % SHOWN === 0) seen?.(this.all())
    }
    return this.all()
  }

  private put(at: number, part: Part<T>): void {
    const known = this.parts[at]
    if (known && known.items.length === part.items.length && JSON.stringify(known.items) === JSON.stringify(part.items)) return
    this.parts[at] = part
    this.whole = []
  }

  private all(): readonly T[] {
    if (!this.whole.length) this.whole = this.parts.flatMap((part) => part.items)
    return this.whole
  }
}

/** Without what only the call itself has to show. */
function slim(item: TraceItem): TraceItem {
  if (item.type === 'call') return (item.input?.length ?? 0) > INPUT ? { ...item, input: null } : item
  if (item.type !== 'event') return item
  const payload = item.payload as Record<string, unknown> | null
  const long = Object.entries(payload ?? {}).filter(([, value]) => typeof value === 'string' && value.length > WORDS)
  return long.length ? { ...item, payload: { ...payload, ...Object.fromEntries(long.map(([name, value]) => [name, `${(value as string).slice(0, WORDS)}…`])) } as never } : item
}

/** The trace of one session. */
export const traceOf = (id: string): Pages<TraceItem> =>
  new Pages<TraceItem>((cursor, signal) => api.get('/api/v1/sessions/{id}/trace', { path: { id }, query: { limit: PAGE, cursor }, signal }), (item) => item.type === 'call' && !(item as Call).outcome, slim)

/** What was said in it, oldest first. */
export const saidIn = (id: string): { read: (signal: AbortSignal) => Promise<readonly Event[]> } => {
  let heard: readonly Event[] = []
  return {
    async read(signal) {
      for (;;) {
        const page = await api.get('/api/v1/events', { query: { session_id: id, kind: 'hook.message', after: heard.at(-1)?.seq ?? 0, limit: PAGE }, signal })
        if (!signal.aborted && page.items.length) heard = [...heard, ...page.items]
        if (signal.aborted || page.items.length < PAGE) return heard
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
