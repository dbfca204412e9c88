/** Who is who: a name and one of ten hues per agent, the same wherever it is seen. */
import { reactive } from 'vue'
import { brief } from './safe'

const HUES = 10
const taken = reactive(new Map<string, number>())
const LIMIT = 2000

function hash(text: string): number {
  let sum = 0x811c9dc5
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193)
  return sum >>> 0
}

/** Which agent a session is of, where that is known: its sessions then have one hue. */
export const owner = reactive(new Map<string, string>())

/** The hue's class of an agent. Who comes first keeps its hue; a collision takes the next free one. */
export function hue(of: string | null | undefined): string {
  if (!of) return 'ag-none'
  const key = owner.get(of) ?? of
  let known = taken.get(key)
  if (known === undefined) {
    if (taken.size > LIMIT) taken.clear()
    const used = new Set([...taken.values()].slice(-(HUES - 1)))
    known = hash(key) % HUES
    for (let step = 0; step < HUES && used.has(known); step++) known = (known + 1) % HUES
    taken.set(key, known)
  }
  return `ag-${known + 1}`
}

/** What an agent's program is called in a word. */
export function program(app: string | null | undefined): string {
  const name = (app ?? '').replace(/-(code|cli)$/, '')
  return name || 'agent'
}

/** A name of at most 24 characters for a session's agent: what it was named, or its program and the start of its session. */
export function agentName(of: { agent?: string | null; app?: string | null; session_id?: string | null }): string {
  if (of.agent && !/^agt_/.test(of.agent)) return brief(of.agent, 24)
  const tail = (of.session_id ?? '').replace(/[^0-9a-zA-Z]/g, '').slice(0, 4)
  const name = brief(program(of.app), 18)
  return tail ? `${name}·${tail}` : name
}
