/** The stretch of time that is seen: in the address, so that it can be sent and gone back to; zoomed, panned, fitted. */
import { computed, onScopeDispose, shallowRef, type ComputedRef } from 'vue'
import { alter, place } from '@/lib/url'
import type { Window } from './draw'

/** Nobody tells less apart than this many milliseconds. */
const LEAST = 200
/** Beyond what there is, this part of it may be looked at: an end has to be seen as one. */
const MARGIN = 0.6
/** While it moves it is written into the address this seldom: a browser counts how often that is done. */
const WRITTEN = 150

export interface View {
  /** All there is. */
  all: ComputedRef<Window>
  /** What somebody chose to see; none while all of the range is seen. */
  zoomed: ComputedRef<Window | null>
  seen: ComputedRef<Window>
  /** Shows another stretch; `back` is whether going back shows this one again. */
  show: (window: Window | null, how?: { back?: boolean }) => void
  /** More or less of it, around a place between 0 and 1. */
  scale: (by: number, around?: number) => void
  /** On or back by a part of what is seen. */
  pan: (by: number) => void
}

/** `fitted` is what is seen until somebody zooms. */
export function useView(all: ComputedRef<Window>, fitted: ComputedRef<Window>): View {
  /** Where it is on its way to, before the address says so. */
  const moving = shallowRef<Window | null>(null)
  const addressed = computed(() => {
    const [from, until] = (place.value.query.z ?? '').split('-').map(Number)
    return from && until && until > from ? { from, until } : null
  })
  const zoomed = computed(() => moving.value ?? addressed.value)
  const seen = computed(() => zoomed.value ?? fitted.value)
  const long = (window: Window): number => window.until - window.from

  /** Where there is nothing at all nobody can be lost. */
  function within({ from, until }: Window): Window {
    const margin = (until - from) * MARGIN
    const by = Math.max(0, all.value.from - margin - from) - Math.max(0, until - all.value.until - margin)
    return until - from > long(all.value) + 2 * margin ? { from, until } : { from: from + by, until: until + by }
  }
  let due: ReturnType<typeof setTimeout> | undefined
  function write(window: Window | null, replace: boolean): void {
    clearTimeout(due)
    due = undefined
    moving.value = null
    alter({ z: window && `${Math.round(window.from)}-${Math.round(window.until)}` }, { replace })
  }
  function show(window: Window | null, { back = false } = {}): void {
    const kept = window && within(window)
    if (!kept || back) return write(kept, !back)
    moving.value = kept
    due ??= setTimeout(() => write(moving.value, true), WRITTEN)
  }
  onScopeDispose(() => clearTimeout(due))
  function scale(by: number, around = 0.5): void {
    const { from, until } = seen.value
    const middle = from + (until - from) * around
    const wide = Math.min(Math.max((until - from) * by, LEAST), long(all.value) * 1.2)
    show({ from: middle - wide * around, until: middle + wide * (1 - around) })
  }
  const pan = (by: number): void => {
    const { from, until } = seen.value
    show({ from: from + (until - from) * by, until: until + (until - from) * by })
  }
  return { all, zoomed, seen, show, scale, pan }
}
