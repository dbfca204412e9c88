/** Who is who: a name and one of ten hues per agent, the same wherever it is seen. */
import { reactive } from 'vue'
import { brief } from './safe'

const HUES = 10
const KEY = 'belljar.hues'
/** So many are remembered; who was given a hue long ago makes room. */
const LIMIT = 60
const taken = reactive(new Map<string, number>(remembered()))

function remembered(): [string, number][] {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '[]') as [string, number][]
    return kept.filter(([name, value]) => typeof name === 'string' && Number.isInteger(value) && value >= 0 && value < HUES).slice(-LIMIT)
  } catch {
    return []
  }
}

function hash(text: string): number {
  let sum = 0x811c9dc5
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193)
  return sum >>> 0
}

/** Which agent a session is of, where that is known: its sessions then have one hue. */
export const owner = reactive(new Map<string, string>())

const isAnonymous = (key: string): boolean => /^[0-9a-f]{8}-|^(sbx|exe|evt|run)_/.test(key)

/** The hue's class of an agent. Who comes first keeps its hue, also after a reload; a collision takes the next free one. */
export function hue(of: string | null | undefined): string {
  if (!of) return 'ag-none'
  const key = owner.get(of) ?? of
  const known = taken.get(key)
  if (known !== undefined) return `ag-${known + 1}`
  // Attempts of a run are told apart by their number.
  const [run, attempt] = key.startsWith('run_') ? key.split('/') : [key]
  let given = (hash(run ?? key) + Number(attempt ?? 0)) % HUES
  // Whose name is not known yet, or never will be, takes nobody's hue.
  if (isAnonymous(key)) return `ag-${given + 1}`
  const used = new Set([...taken.values()].slice(-(HUES - 1)))
  for (let step = 0; step < HUES && used.has(given); step++) given = (given + 1) % HUES
  if (taken.size >= LIMIT) taken.delete(taken.keys().next().value ?? '')
  taken.set(key, given)
  localStorage.setItem(KEY, JSON.stringify([...taken]))
  return `ag-${given + 1}`
}

/** What an agent's program is called in a word. */
export function program(app: string | null | undefined): string {
  const name = (app ?? '').replace(/-(code|cli)$/, '')
  return name || 'agent'
}

/** A name of at most 24 characters for a session's agent: what it was named, or its program and the start of its session. */
export function agentName(of: { agent?: string | null; app?: string | null; session_id?: string | null }): string {
  if (of.agent && !/^agt_/.test(of.agent)) return brief(of.agent, 24)
  // The end, where ids of one hour differ.
  const tail = (of.session_id ?? '').replace(/[^0-9a-zA-Z]/g, '').slice(-4)
  const name = brief(program(of.app), 18)
  return tail ? `${name}·${tail}` : name
}
