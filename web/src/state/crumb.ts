/** The last part of the way to where you are, when a view knows a better word than its own title. */
import { onScopeDispose, ref, watchEffect } from 'vue'
import { brief } from '@/lib/safe'

export const crumb = ref('')

export function useCrumb(words: () => string | null | undefined): void {
  watchEffect(() => {
    const whole = brief(words(), 400)
    crumb.value = whole.length > 72 ? `${whole.slice(0, 70).trimEnd()}…` : whole
  })
  onScopeDispose(() => {
    crumb.value = ''
  })
}
