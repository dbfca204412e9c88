/** How the page looks, kept in this browser: theme, contrast, density. Not in the address: a link is for others. */
import { reactive, watchEffect } from 'vue'

export type Theme = 'system' | 'dark' | 'light'
export type Density = 'compact' | 'standard' | 'roomy'

const KEY = 'belljar.look'
interface Look {
  theme: Theme
  contrast: boolean
  density: Density
}
const kept = ((): Partial<Look> | null => {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}')
  } catch {
    return {}
  }
})()

export const look: Look = reactive({ theme: kept?.theme ?? 'system', contrast: kept?.contrast ?? false, density: kept?.density ?? 'standard' })

const bright = matchMedia('(prefers-color-scheme: light)')
const system = reactive({ light: bright.matches })
bright.addEventListener('change', (event) => {
  system.light = event.matches
})

/** Which theme is shown now; what is drawn on a canvas is drawn again when it changes. */
export const shown = reactive({ theme: 'dark' as 'dark' | 'light', version: 0 })

watchEffect(() => {
  shown.theme = look.theme === 'system' ? (system.light ? 'light' : 'dark') : look.theme
  const root = document.documentElement
  root.dataset.theme = shown.theme
  if (look.contrast) root.dataset.contrast = 'more'
  else delete root.dataset.contrast
  root.dataset.density = look.density
  try {
    localStorage.setItem(KEY, JSON.stringify(look))
  } catch {
    // A browser that keeps nothing shows the default next time.
  }
})
watchEffect(() => {
  void [shown.theme, look.contrast, look.density]
  requestAnimationFrame(() => shown.version++)
})

/** The value of a token now, for canvases. */
export const token = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()
