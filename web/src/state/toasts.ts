/** Results of one's own actions, and nothing else. */
import { ref } from 'vue'
import { Problem } from '@/api/client'
import { brief } from '@/lib/safe'

export interface Toast {
  id: number
  text: string
  bad: boolean
}

export const toasts = ref<Toast[]>([])
let last = 0

export function say(text: string, { bad = false } = {}): void {
  const toast = { id: ++last, text: brief(text, 600), bad }
  toasts.value = [...toasts.value.slice(-3), toast]
  setTimeout(() => dismiss(toast.id), bad ? 10_000 : 5000)
}

export const dismiss = (id: number): void => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

/** Does something and says how it went, if there is a word for that; the answer is what was done, or nothing. */
export async function doing<T>(act: () => Promise<T>, done: string | ((answer: T) => string)): Promise<T | undefined> {
  try {
    const answer = await act()
    const words = typeof done === 'string' ? done : done(answer)
    if (words) say(words)
    return answer
  } catch (error) {
    const problem = Problem.of(error)
    say(`${problem.message}${problem.hint ? ` — ${problem.hint}` : ''} (${problem.code})`, { bad: true })
    return undefined
  }
}
