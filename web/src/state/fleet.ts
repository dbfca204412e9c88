/** What every agent does now: sessions, calls that go on, sandboxes; asked again when the stream says that something moved. */
import { computed, shallowRef } from 'vue'
import { api, Problem } from '@/api/client'
import type { Approval, Call, Event, Sandbox, Session } from '@/api/types'
import { agentName, owner, program } from '@/lib/agents'
import { sparing } from '@/lib/asked'
import { brief } from '@/lib/safe'
import { now, stamp } from '@/lib/time'
import { link, onEvents, recent } from '@/live/live'
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
    const given = named(all.items)
    for (const one of all.items) {
      const agent = one.sandbox_id ? sandboxes.value.get(one.sandbox_id)?.agent : given.get(one.session_id)
      if (agent && owner.get(one.session_id) !== agent) owner.set(one.session_id, agent)
    }
    names.value = given
    fleet.problem.value = null
  } catch (error) {
    fleet.problem.value = Problem.of(error)
  }
  fleet.loaded.value = true
}

export const refreshFleet = refresh

const names = shallowRef<ReadonlyMap<string, string>>(new Map())
/** The last word of a session may be heard when the next has begun. */
const LATE = 10_000
/** Who is not in a sandbox is named by program and directory; sessions there that follow each other are of one agent. */
function named(all: readonly Session[]): ReadonlyMap<string, string> {
  const out = new Map<string, string>()
  const seats = new Map<string, number[]>()
  for (const one of all.filter((one) => !one.sandbox_id && one.cwd && one.app).toSorted((a, b) => a.began.localeCompare(b.began))) {
    const where = brief((one.cwd ?? '').split('/').findLast(Boolean) ?? '', 12)
    if (!where) continue
    const key = `${program(one.app)}·${where}`
    const free = seats.get(`${key} ${one.cwd}`) ?? []
    const began = Date.parse(one.began)
    const at = free.findIndex((last) => last - LATE <= began)
    const seat = at < 0 ? free.length : at
    free[seat] = Date.parse(one.last)
    seats.set(`${key} ${one.cwd}`, free)
    out.set(one.session_id, seat ? `${key} ${seat + 1}` : key)
  }
  return out
}

/** Keeps these true while a component is there; many may ask, each question is asked once. */
export function useFleet(): void {
  const soon = sparing(refresh, 1000)
  soon()
  if (!contexts.value.size) hearContexts(recent.toArray())
  onEvents((events: readonly Event[]) => {
    hearContexts(events)
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
const isGone = (session: Session, sandbox: Sandbox | null): boolean => !!session.sandbox_id && sandbox?.state === 'destroyed'

function group(session: Session, sandbox: Sandbox | null, asks: ReadonlySet<string>): Group {
  if (session.state === 'waiting' || asks.has(session.session_id)) return 'needs'
  if (session.state === 'failed') return 'failed'
  // Some programs never say that they are done; without its sandbox nobody is at work.
  if (session.state === 'done' || isGone(session, sandbox)) return 'done'
  if (session.state === 'working') return 'working'
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
  if (isGone(session, sandbox) && session.state !== 'done') return 'its sandbox is gone'
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
      name: agentName({ agent: sandbox?.agent ?? names.value.get(session.session_id), app: session.app, session_id: session.session_id }),
      sandbox,
      call,
      evidence: evidence(session, call, sandbox),
      group: group(session, sandbox, asks),
    }
  })
})

/** How many tokens a session's own agent sent last, which is what its model has in mind. */
export const contexts = shallowRef<ReadonlyMap<string, number>>(new Map())
function hearContexts(events: readonly Event[]): void {
  const called = events.filter((event) => event.kind === 'model.called' && event.session_id)
  if (!called.length) return
  const next = new Map(contexts.value)
  for (const event of called) {
    const { usage, agent_id: helper } = (event.payload ?? {}) as { usage?: Record<string, number>; agent_id?: string }
    if (!usage || helper) continue
    next.set(event.session_id as string, (usage.input ?? 0) + (usage.cache_read ?? 0) + (usage.cache_write_5m ?? 0) + (usage.cache_write_1h ?? 0))
  }
  if (next.size > 2000) next.clear()
  contexts.value = next
}
/** How much fits into a model's mind, where that is commonly known. */
export function windowOf(model: string | null | undefined, used: number): number | null {
  const name = model ?? ''
  if (/gemini/.test(name)) return 1_000_000
  if (/gpt-5|codex/.test(name)) return 400_000
  if (/claude|opus|sonnet|haiku/.test(name)) return used > 200_000 ? 1_000_000 : 200_000
  return null
}

/** The name of whoever has this session, as the fleet knows it. */
export function nameOf(sessionId: string | null | undefined, fallback: { agent?: string | null; app?: string | null } = {}): string {
  const known = sessionId ? agents.value.find((agent) => agent.session.session_id === sessionId) : undefined
  return known?.name ?? agentName({ ...fallback, session_id: sessionId })
}
