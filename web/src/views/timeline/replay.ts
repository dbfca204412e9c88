/** The playhead: a moment that is looked at instead of now, set by hand, by going from call to call, or by playing on. */
import { computed, onScopeDispose, ref, type ComputedRef, type Ref } from 'vue'
import { alter, param, place } from '@/lib/url'
import type { Lane } from './lanes'
import type { View } from './view'

/** What comes after the last thing that happened is no replay any more. */
const END = 1500
/** While it moves it is written into the address this seldom. */
const WRITTEN = 150

export interface Replay {
  playing: Ref<boolean>
  /** How many times as fast as it was. */
  speed: Ref<string>
  /** The moment that is looked at; none while it is now. */
  playhead: Ref<number | null>
  /** How long before the end that is. */
  behind: ComputedRef<number>
  /** Looks at a moment, or at now. */
  to: (moment: number | null) => void
  toggle: () => void
  /** To the call before or after. */
  hop: (by: 1 | -1) => void
}

export function useReplay({ all, zoomed, seen, show }: View, lanes: ComputedRef<readonly Lane[]>): Replay {
  const playing = ref(false)
  const speed = param('speed', '1', { replace: true })
  const playhead = ref<number | null>(place.value.query.at ? Number(place.value.query.at) : null)
  let frame = 0
  let last = 0

  let due: ReturnType<typeof setTimeout> | undefined
  function set(moment: number | null): void {
    playhead.value = moment
    due ??= setTimeout(() => {
      due = undefined
      alter({ at: playhead.value === null ? null : String(Math.round(playhead.value)) }, { replace: true })
    }, WRITTEN)
  }
  function stop(): void {
    playing.value = false
    cancelAnimationFrame(frame)
    if (playhead.value !== null) set(playhead.value)
  }
  function to(moment: number | null): void {
    if (moment === null) stop()
    set(moment)
  }
  /** What is seen goes along with the playhead where only a part is seen. */
  function follow(moment: number): void {
    const { from, until } = seen.value
    if (moment > until && zoomed.value) show({ from: moment - (until - from) * 0.2, until: moment + (until - from) * 0.8 })
  }
  function tick(time: number): void {
    if (!playing.value || playhead.value === null) return
    playhead.value += (time - last) * Number(speed.value)
    last = time
    if (playhead.value >= all.value.until - END) {
      to(null)
      return
    }
    follow(playhead.value)
    frame = requestAnimationFrame(tick)
  }
  function toggle(): void {
    if (playing.value) return stop()
    set(playhead.value ?? Math.max(all.value.from + END, seen.value.from))
    playing.value = true
    last = performance.now()
    frame = requestAnimationFrame(tick)
  }
  function hop(by: 1 | -1): void {
    const from = playhead.value ?? all.value.until
    const moments = lanes.value.flatMap((lane) => lane.bars.filter((bar) => bar.kind === 'call').map((bar) => bar.from))
    const next = by > 0 ? Math.min(...moments.filter((one) => one > from + 1)) : Math.max(...moments.filter((one) => one < from - 1))
    if (Number.isFinite(next)) set(next)
  }
  onScopeDispose(() => {
    cancelAnimationFrame(frame)
    clearTimeout(due)
  })
  const behind = computed(() => Math.max(0, all.value.until - END - (playhead.value ?? all.value.until)))
  return { playing, speed, playhead, behind, to, toggle, hop }
}
