/**
 * What a pointer does on the board. A drag selects a stretch of time, and letting go shows it alone; with Shift, the
 * middle button or a finger it pans. A wheel pans where lanes have nowhere to scroll to, and zooms with Ctrl.
 */
import { computed, ref, type ComputedRef, type Ref } from 'vue'
import type { Window } from './draw'
import type { View } from './view'

/** Nearer than this a press is a click. */
const STILL = 4

export interface Gestures {
  /** What is selected while the pointer is down. */
  brush: ComputedRef<Window | null>
  down: (event: PointerEvent) => void
  /** Whether the movement was one of these. */
  move: (event: PointerEvent) => boolean
  /** Whether it was a click. */
  up: (event: PointerEvent) => boolean
  /** Forgets what was begun; whether there was something. */
  cancel: () => boolean
  wheel: (event: WheelEvent) => void
}

interface Held {
  does: 'select' | 'pan'
  at: number
  seen: Window
  moved: boolean
}

export function useGestures({ seen, show, scale, pan }: View, width: Ref<number>, scrolls: () => boolean): Gestures {
  let held: Held | null = null
  const edges = ref<[number, number] | null>(null)
  const brush = computed(() => (edges.value ? { from: Math.min(...edges.value), until: Math.max(...edges.value) } : null))
  const momentOf = (x: number, { from, until }: Window): number => from + (Math.min(width.value, Math.max(0, x)) / width.value) * (until - from)

  function down(event: PointerEvent): void {
    if (event.button > 1) return
    const pans = event.button === 1 || event.shiftKey || event.pointerType === 'touch'
    if (event.button === 1) event.preventDefault()
    held = { does: pans ? 'pan' : 'select', at: event.offsetX, seen: { ...seen.value }, moved: false }
    ;(event.currentTarget as HTMLElement).setPointerCapture(event.pointerId)
  }
  function move(event: PointerEvent): boolean {
    if (!held || (!held.moved && Math.abs(event.offsetX - held.at) < STILL)) return false
    held.moved = true
    if (held.does === 'select') edges.value = [momentOf(held.at, held.seen), momentOf(event.offsetX, held.seen)]
    else {
      const by = ((held.at - event.offsetX) / width.value) * (held.seen.until - held.seen.from)
      show({ from: held.seen.from + by, until: held.seen.until + by })
    }
    return true
  }
  function up(event: PointerEvent): boolean {
    const was = held
    const chosen = brush.value
    cancel()
    if (was?.moved && chosen && chosen.until > chosen.from) show(chosen, { back: true })
    return !!was && !was.moved && event.button === 0
  }
  function cancel(): boolean {
    const was = held
    held = null
    edges.value = null
    return !!was
  }
  function wheel(event: WheelEvent): void {
    const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)
    if (!event.ctrlKey && !isSideways && scrolls()) return
    event.preventDefault()
    if (event.ctrlKey) scale(event.deltaY > 0 ? 1.2 : 1 / 1.2, event.offsetX / width.value)
    else pan((event.deltaX || event.deltaY) / width.value)
  }
  return { brush, down, move, up, cancel, wheel }
}
