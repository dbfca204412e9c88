/** Calls that wait for a person: kept true by the stream, asked again now and then. */
import { computed, reactive, shallowRef, watch } from 'vue'
import { api, Problem } from '@/api/client'
import type { Approval } from '@/api/types'
import { sparing } from '@/lib/asked'
import { link, onEvents } from '@/live/live'

export const waiting = shallowRef<readonly Approval[]>([])
export const answered = shallowRef<readonly Approval[]>([])
export const approvals = reactive({ loaded: false, problem: null as Problem | null })

/** Oldest first: what waited longest is next. */
export const needsYou = computed(() => waiting.value.length)

export async function refresh(): Promise<void> {
  try {
    const [open, all] = await Promise.all([
      api.get('/api/v1/approvals', { query: { state: 'pending', limit: 200 } }),
      api.get('/api/v1/approvals', { query: { limit: 60 } }),
    ])
    waiting.value = open.items.toSorted((a, b) => a.created_at.localeCompare(b.created_at))
    answered.value = all.items.filter((item) => item.state !== 'pending').toSorted((a, b) => (b.answered_at ?? b.created_at).localeCompare(a.answered_at ?? a.created_at))
    approvals.problem = null
  } catch (error) {
    approvals.problem = Problem.of(error)
  }
  approvals.loaded = true
}

const soon = sparing(refresh, 300)

/** Called once, by the frame. */
export function keepApprovals(): void {
  void refresh()
  onEvents((events) => {
    if (events.some((event) => event.kind.startsWith('approval.'))) soon()
  })
  watch(
    () => link.state,
    (state) => state === 'open' && soon(),
  )
  setInterval(() => !document.hidden && soon(), 10_000)
}
