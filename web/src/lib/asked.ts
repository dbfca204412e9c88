/** Data asked of the server: what came last stays while more is on its way, or when that fails. */
import { onScopeDispose, ref, shallowRef, watch, type Ref, type ShallowRef, type WatchSource } from 'vue'
import { Problem } from '@/api/client'

export interface AskedFor<T> {
  data: ShallowRef<T | null>
  problem: ShallowRef<Problem | null>
  /** Nothing has come yet. */
  loading: Ref<boolean>
  again: () => Promise<void>
}

/** Asks now, when a source changes, and every so often while `when` holds; an answer that was overtaken is dropped. */
export function asked<T>(ask: (signal: AbortSignal) => Promise<T>, { on = [], every = 0, when = () => true }: { on?: WatchSource[]; every?: number; when?: () => boolean } = {}): AskedFor<T> {
  const data = shallowRef<T | null>(null)
  const problem = shallowRef<Problem | null>(null)
  const loading = ref(true)
  let flight: AbortController | null = null
  let busy = false

  async function again(): Promise<void> {
    flight?.abort()
    const own = (flight = new AbortController())
    busy = true
    try {
      const answer = await ask(own.signal)
      if (own.signal.aborted) return
      data.value = answer
      problem.value = null
    } catch (error) {
      if (own.signal.aborted) return
      problem.value = Problem.of(error)
    }
    busy = false
    loading.value = false
  }

  if (on.length) watch(on, () => void again())
  void again()
  const timer = every ? setInterval(() => !busy && !document.hidden && when() && void again(), every) : undefined
  onScopeDispose(() => {
    clearInterval(timer)
    flight?.abort()
  })
  return { data, problem, loading, again }
}

/** Calls at most once in so many milliseconds, and once more for what came in between. */
export function sparing(act: () => unknown, pause: number): () => void {
  let last = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  return () => {
    if (timer !== undefined) return
    const wait = Math.max(0, last + pause - Date.now())
    timer = setTimeout(() => {
      timer = undefined
      last = Date.now()
      act()
    }, wait)
  }
}
