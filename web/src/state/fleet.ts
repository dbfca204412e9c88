/** What every agent does now: sessions, calls that go on, sandboxes; asked again when the stream says that something moved. */
import { computed, shallowRef } from 'vue'
import { api, Problem } from '@/api/client'
import type { Approval, Call, Event, Sandbox, Session } from '@/api/types'
import { agentName, owner } from '@/lib/agents'
import { sparing } from '@/lib/asked'
import { now } from '@/lib/time'
import { link, onEvents } from '@/live/live'
import { stamp } from '@/lib/time'
import { onScopeDispose, watch } from 'vue'
import { waiting } from './approvals'

export const sessions = shallowRef<readonly Session[]>([])
export const openCalls = shallowRef<readonly Call[]>([])
export const sandboxes = shallowRef<ReadonlyMap<string, Sandbox>>(new Map())
export const fleet = { loaded: shallowRef(false), problem: shallowRef<Problem | null>(null) }

export type Group = 'needs' | 'failed' | 'working' | 'ready' | 'idle' | 'done'

export interface Agent {
  session: Session
  name: string
  sandbox: Sandbox | null
  call: Call | null
  /** How the state is known. */
  evidence: string
  group: Group
}

async function refresh(): Promise<void> {
  try {
    const since = stamp(Date.now() - 24 * 3_600_000)
    const [all, calls, jars] = await Promise.all([
      api.get('/api/v1/sessions', { query: { limit: 300 } }),
      api.get('/api/v1/calls', { query: { open: true, limit: 300, from: since } }),
      api.get('/api/v1/sandboxes', { query: { limit: 500 } }),
    ])
    sessions.value = all.items
    openCalls.value = calls.items
    sandboxes.value = new Map(jars.items.map((one) => [one.id, one]))
    for (const one of all.items) {
      const agent = one.sandbox_id ? sandboxes.value.get(one.sandbox_id)?.agent : null
      if (agent && owner.get(one.session_id) !== agent) owner.set(one.session_id, agent)
    }
    fleet.problem.value = null
  } catch (error) {
    fleet.problem.value = Problem.of(error)
  }
  fleet.loaded.value = true
}

export const refreshFleet = refresh

/** Keeps these true while a component is there; many may ask, each question is asked once. */
export function useFleet(): void {
  const soon = sparing(refresh, 1000)
  soon()
  onEvents((events: readonly Event[]) => {
    if (events.some((event) => event.session_id || event.kind.startsWith('sandbox'))) soon()
  })
  watch(
    () => link.state,
    (state) => state === 'open' && soon(),
  )
  const timer = setInterval(() => !document.hidden && soon(), 15_000)
  onScopeDispose(() => clearInterval(timer))
}

const SILENT = 4 * 60_000

function group(session: Session, sandbox: Sandbox | null, asks: ReadonlySet<string>): Group {
  if (session.state === 'waiting' || asks.has(session.session_id)) return 'needs'
  if (session.state === 'failed') return 'failed'
  if (session.state === 'working') return 'working'
  if (session.state === 'done') return 'done'
  // What it changed can still be kept or thrown away.
  return sandbox?.workspace && (sandbox.state === 'stopped' || sandbox.state === 'running') && session.counts.turns > 0 ? 'ready' : 'idle'
}

function evidence(session: Session, call: Call | null, sandbox: Sandbox | null): string {
  const silent = now.value - Date.parse(session.last)
  if (session.state === 'working' && !call && silent > SILENT) {
    const minutes = Math.floor(silent / 60_000)
    const alive = sandbox ? (sandbox.state === 'running' ? 'sandbox alive' : `sandbox ${sandbox.state}`) : 'process unknown'
    return `silent ${minutes} min, ${alive}`
  }
  return ''
}

export const agents = computed<Agent[]>(() => {
  const asks = new Set(waiting.value.map((one: Approval) => one.session_id).filter((id): id is string => !!id))
  const calls = new Map<string, Call>()
  for (const call of openCalls.value) {
    const key = call.session_id
    const known = key ? calls.get(key) : undefined
    if (key && (!known || (call.began ?? call.received) > (known.began ?? known.received))) calls.set(key, call)
  }
  return sessions.value.map((session) => {
    const sandbox = session.sandbox_id ? (sandboxes.value.get(session.sandbox_id) ?? null) : null
    const call = session.state === 'working' || session.state === 'waiting' ? (calls.get(session.session_id) ?? null) : null
    return {
      session,
      name: agentName({ agent: sandbox?.agent, app: session.app, session_id: session.session_id }),
      sandbox,
      call,
      evidence: evidence(session, call, sandbox),
      group: group(session, sandbox, asks),
    }
  })
})

/** The name of whoever has this session, as the fleet knows it. */
export function nameOf(sessionId: string | null | undefined, fallback: { agent?: string | null; app?: string | null } = {}): string {
  const known = sessionId ? agents.value.find((agent) => agent.session.session_id === sessionId) : undefined
  return known?.name ?? agentName({ ...fallback, session_id: sessionId })
}
