/** The keyboard: one listener, and whoever is there last is asked first. No key acts while a field has the focus, nor behind a dialog. */
import { onScopeDispose } from 'vue'

export type Keys = Record<string, (event: KeyboardEvent) => unknown>

const layers: Keys[] = []
let prefix = ''
let forget: ReturnType<typeof setTimeout> | undefined

/** Keys of a component while it is there: `j`, `Escape`, `ctrl+k`, `g f`. A handler that returns `false` passes. */
export function useKeys(keys: Keys): void {
  layers.push(keys)
  onScopeDispose(() => layers.splice(layers.indexOf(keys), 1))
}

export const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** Whether something lies above the page: what is behind it must not be acted on unseen. */
export const isCovered = (): boolean => document.querySelector('[role="dialog"], [role="alertdialog"]') !== null

function name(event: KeyboardEvent): string {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
  return `${event.ctrlKey || event.metaKey ? 'ctrl+' : ''}${event.altKey ? 'alt+' : ''}${key}`
}

addEventListener('keydown', (event) => {
  const key = name(event)
  const fields = isField(event.target)
  if (fields && !key.startsWith('ctrl+') && key !== 'Escape') return
  if (event.target instanceof Element && event.target.closest('[data-own-keys]')) return
  // A dialog closes itself on Escape; nothing else may hear that.
  if (key !== 'ctrl+k' && isCovered()) return
  const wanted = prefix ? `${prefix} ${key}` : key
  prefix = ''
  clearTimeout(forget)
  for (const layer of layers.toReversed()) {
    const act = layer[wanted]
    if (act && act(event) !== false) {
      event.preventDefault()
      return
    }
  }
  if (key === 'g' && !fields) {
    prefix = 'g'
    forget = setTimeout(() => (prefix = ''), 900)
  }
})
