/** The address bar is the page's state: which view, and every filter and selection in it. */
import { computed, shallowRef, type WritableComputedRef } from 'vue'

export interface Place {
  path: string
  query: Readonly<Record<string, string>>
}

const read = (): Place => ({
  path: location.pathname.replace(/\/+$/, '') || '/',
  query: Object.fromEntries(new URLSearchParams(location.search)),
})

export const place = shallowRef<Place>(read())

addEventListener('popstate', () => {
  place.value = read()
})

/** An address of this page; what is empty is left out, and order is kept so that equal states have equal addresses. */
export function address(path: string, query: Record<string, string | number | null | undefined> = {}): string {
  const entries = Object.entries(query).filter(([, value]) => value != null && value !== '')
  const search = new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString()
  return search ? `${path}?${search}` : path
}

/** Goes to another view. */
export function go(to: string): void {
  if (to === location.pathname + location.search) return
  history.pushState(null, '', to)
  place.value = read()
}

/** Changes parameters of this view; a selection can be undone with Back, a keystroke in a filter cannot. */
export function alter(changes: Record<string, string | null | undefined>, { replace = false } = {}): void {
  const to = address(place.value.path, { ...place.value.query, ...changes })
  if (to === location.pathname + location.search) return
  history[replace ? 'replaceState' : 'pushState'](null, '', to)
  place.value = read()
}

/** One parameter as a value that can be read and set. */
export function param(name: string, fallback = '', { replace = false } = {}): WritableComputedRef<string> {
  return computed({
    get: () => place.value.query[name] ?? fallback,
    set: (value) => alter({ [name]: value === fallback ? null : value }, { replace }),
  })
}
