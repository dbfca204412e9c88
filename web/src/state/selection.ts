/** The one selected thing, in the address, and the order in which `[` and `]` walk. */
import { computed, onScopeDispose, shallowRef } from 'vue'
import { alter, param, place } from '@/lib/url'

/** `call:call_…`, `event:123`, `session:…`, `sandbox:sbx_…`, `approval:apr_…`, `error:…` */
export const selected = param('sel')
export const tab = param('tab', 'summary', { replace: true })

export const subject = computed(() => {
  const at = selected.value.indexOf(':')
  return at < 0 ? null : { kind: selected.value.slice(0, at), id: selected.value.slice(at + 1) }
})

export const select = (what: string): void => alter({ sel: what, tab: what ? (place.value.query.tab ?? null) : null })
export const unselect = (): void => alter({ sel: null, tab: null })

const order = shallowRef<() => readonly string[]>(() => [])

/** A view says in which order its things are walked. */
export function walkable(list: () => readonly string[]): void {
  order.value = list
  onScopeDispose(() => {
    if (order.value === list) order.value = () => []
  })
}

/** Selects the next of them; where the view has no order, nothing is done. */
export function step(by: 1 | -1): boolean {
  const list = order.value()
  if (!list.length) return false
  const at = list.indexOf(selected.value)
  const next = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : at + by]
  if (next !== undefined) alter({ sel: next }, { replace: at >= 0 })
  return true
}
