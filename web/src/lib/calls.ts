/** Calls of a stretch of time, read page by page up to a bound, and what is computed of them. */
import { api, type Schemas } from '@/api/client'
import type { Call } from '@/api/types'

const PAGES = 5

/** The newest of them; `whole` says whether that is all of them. */
export async function callsWithin(within: { from: string; until?: string }, signal: AbortSignal): Promise<{ calls: readonly Call[]; whole: boolean }> {
  const calls: Call[] = []
  let cursor: string | undefined
  for (let page = 0; page < PAGES; page++) {
    const answer: Schemas['Page_Call'] = await api.get('/api/v1/calls', { query: { ...within, limit: 1000, cursor }, signal })
    calls.push(...answer.items)
    cursor = answer.next_cursor ?? undefined
    if (!cursor) break
  }
  return { calls, whole: !cursor }
}

/** Things by what they have in common. */
export function grouped<T>(list: readonly T[], key: (item: T) => string | null | undefined): Map<string, T[]> {
  const out = new Map<string, T[]>()
  for (const item of list) {
    const of = key(item)
    if (!of) continue
    const known = out.get(of)
    if (known) known.push(item)
    else out.set(of, [item])
  }
  return out
}

/** How long the call took that a part of them was quicker than; nothing, where nobody measured. */
export function quantile(calls: readonly Call[], part: number): number | null {
  const took = calls.flatMap((call) => call.duration_ms ?? []).toSorted((a, b) => a - b)
  return took[Math.min(took.length - 1, Math.floor(took.length * part))] ?? null
}

/** Of those that came to an end by themselves, how many came out well. */
export const successRate = (good: number, bad: number): number | null => (good + bad ? good / (good + bad) : null)
