/** Moments and spans in words: relative below an hour, the clock after, the exact time on hover. */
import { ref } from 'vue'

/** Ticks once a second while the page is seen; clocks that stand still hold on to their last value. */
export const now = ref(Date.now())
setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, 1000)
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) now.value = Date.now()
})

export const millis = (moment: string | number): number => (typeof moment === 'number' ? moment : Date.parse(moment))

const two = (number: number): string => String(Math.floor(number)).padStart(2, '0')

/** `14:31:58`, in this browser's zone. */
export function clock(moment: string | number, { thousandths = false } = {}): string {
  const at = new Date(millis(moment))
  const text = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
  return thousandths ? `${text}.${String(at.getMilliseconds()).padStart(3, '0')}` : text
}

/** `14:31` today, `12 Nov 14:31` before. */
export function dayClock(moment: string | number): string {
  const at = new Date(millis(moment))
  const text = `${two(at.getHours())}:${two(at.getMinutes())}`
  if (at.toDateString() === new Date().toDateString()) return text
  return `${at.getDate()} ${at.toLocaleString('en', { month: 'short' })} ${text}`
}

// Made once: a formatter costs more than all it is asked for in a frame.
const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' })
const zones = new Map<number, string>()
/** What the zone is called at that time of the year. */
function zone(at: Date): string {
  const offset = at.getTimezoneOffset()
  const known = zones.get(offset) ?? Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' }).formatToParts(at).find((part) => part.type === 'timeZoneName')?.value ?? ''
  zones.set(offset, known)
  return known
}

export const exact = (moment: string | number): string => {
  const at = new Date(millis(moment))
  return Number.isNaN(at.getTime()) ? 'unknown' : `${days.format(at)} ${clock(moment, { thousandths: true })} ${zone(at)}`
}

/** A span in as few letters as tell it: `14 ms`, `9.8 s`, `18 m`, `2 h 5 m`. */
export function span(ms: number): string {
  if (!Number.isFinite(ms)) return 'unknown'
  if (ms < 0) return `−${span(-ms)}`
  if (ms < 1000) return ms > 0 && ms < 1 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1).replace(/\.0$/, '') : Math.floor(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} m`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} m` : `${hours} h`
  return `${Math.floor(hours / 24)} d`
}

/** A running clock: `0:42`, `1:26`, `1:02:03`. */
export function ticking(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor((seconds % 3600) / 60)
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`
}

/** `42 s ago`, or the clock when that is an hour ago. */
export function ago(moment: string | number, at = now.value): string {
  const passed = at - millis(moment)
  if (!Number.isFinite(passed)) return 'unknown'
  if (passed < 1500) return 'now'
  return passed < 3_600_000 ? `${span(passed)} ago` : dayClock(moment)
}

/** A moment as the API wants it. */
export const stamp = (ms: number): string => new Date(ms).toISOString()
