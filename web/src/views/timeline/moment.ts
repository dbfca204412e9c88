/** What each agent was about at one moment. */
import { ticking } from '@/lib/time'
import type { Bar, Lane } from './lanes'

export interface Doing {
  lane: Lane
  /** `ran` is between two calls: the bar is the last one. */
  how: 'waits' | 'runs' | 'thinks' | 'ran' | 'nothing'
  bar: Bar | null
}

const FIRST: Record<Bar['kind'], number> = { wait: 0, call: 1, model: 2 }
const HOW = { wait: 'waits', call: 'runs', model: 'thinks' } as const

/** Who waits for a person waits, whatever else goes on; who runs something runs it, though a model thinks beside it. */
export function doingAt(lane: Lane, moment: number): Doing {
  let covers: Bar | null = null
  let before: Bar | null = null
  for (const bar of lane.bars) {
    if (bar.from > moment) continue
    if (bar.until === null || bar.until > moment) {
      if (!covers || FIRST[bar.kind] < FIRST[covers.kind] || (bar.kind === covers.kind && bar.from > covers.from)) covers = bar
    } else if (bar.kind === 'call' && bar.until > (before?.until ?? 0)) before = bar
  }
  if (covers) return { lane, how: HOW[covers.kind], bar: covers }
  return { lane, how: before ? 'ran' : 'nothing', bar: before }
}

/** The same in a few words. */
export function words({ how, bar }: Doing, moment: number): string {
  const since = bar ? ticking(moment - bar.from) : ''
  if (how === 'runs') return `${since} ${bar?.label ?? ''}`
  if (how === 'waits') return `waits ${since}`
  if (how === 'thinks') return `thinks ${since}`
  return how === 'ran' ? 'between calls' : 'nothing yet'
}

/** The lane something was done in last: where one looks first. */
export function liveliest(lanes: readonly Lane[], moment: number): Lane | null {
  const begun = (lane: Lane): number => Math.max(...lane.bars.filter((bar) => bar.kind === 'call' && bar.from <= moment).map((bar) => bar.from), 0)
  const best = lanes.toSorted((a, b) => begun(b) - begun(a))[0]
  return best && begun(best) ? best : (lanes[0] ?? null)
}

/** The call a moment shows: the one that goes on, or the last that is over. */
export function callAt(lane: Lane, moment: number): Bar | null {
  const doing = doingAt(lane, moment)
  if (doing.bar && doing.how !== 'thinks') return doing.bar
  const calls = lane.bars.filter((bar) => bar.kind === 'call' && bar.from <= moment)
  return calls.toSorted((a, b) => b.from - a.from)[0] ?? null
}
