/** How many kinds of errors of the last day nobody has dealt with: asked again when something fails or is judged. */
import { computed, type ComputedRef } from 'vue'
import { api } from '@/api/client'
import { asked, sparing } from '@/lib/asked'
import { stamp } from '@/lib/time'
import { onEvents } from '@/live/live'

const MOST = 100
const DAY = 86_400_000

/** The number as it is shown: nothing where there is none. */
export function useOpenErrors(): ComputedRef<string> {
  const { data, again } = asked((signal) => api.get('/api/v1/errors', { query: { state: 'open', from: stamp(Date.now() - DAY), limit: MOST }, signal }).then((page) => page.items.length), { every: 60_000 })
  const soon = sparing(again, 5000)
  onEvents((events) => {
    if (events.some((event) => event.status === 'failure' || event.kind.startsWith('error_group.'))) soon()
  })
  return computed(() => (data.value ? (data.value < MOST ? String(data.value) : `${MOST}+`) : ''))
}
