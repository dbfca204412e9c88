/** Events as rows: what is asked before a call and what is told after it become one row, whichever comes first. */
import type { Component } from 'vue'
import type { Event } from '@/api/types'
import { eventIcon, eventText, eventTool } from '@/lib/lines'
import { bytes } from '@/lib/format'
import { brief } from '@/lib/safe'

export interface Row {
  key: string
  seq: number
  /** What is selected when the row is. */
  sel: string
  time: number
  session: string | null
  app: string | null
  sandbox: string | null
  sub: string | null
  icon: Component
  kind: string
  tool: string
  text: string
  decision: string | null
  redacted: boolean
  result: string
  status: string | null
  took: number | null
  running: boolean
  /** For searching. */
  event: Event
}

const MERGED = /^(tool\.(requested|finished|failed)|permission\.(asked|denied)|execution\.(started|ended))$/
const BEGINS = /^(tool\.requested|execution\.started)$/
/** Told of elsewhere: by the call itself, by the approval, by a chart. */
const SILENT = /^(usage\.|budget\.spent|otel\.|transcript\.|webhook\.|ledger\.|approval\.(delivered|requested)|sandbox\.state|agent\.traced)/

type Payload = Record<string, unknown>

function size(payload: Payload): string {
  const answer = payload.tool_response
  if (answer === undefined || answer === null) return ''
  const length = typeof answer === 'string' ? answer.length : JSON.stringify(answer).length
  return bytes(length)
}

export class Rows {
  readonly list: Row[] = []
  private readonly calls = new Map<string, Row>()

  constructor(private readonly most = 100_000) {}

  /** Adds an event; the answer is whether anything is to be seen of it. */
  add(event: Event): boolean {
    if (SILENT.test(event.kind)) return false
    const payload = (event.payload ?? {}) as Payload
    const id = event.kind.startsWith('execution.') ? (event.execution_id ?? null) : typeof payload.tool_use_id === 'string' ? payload.tool_use_id : null
    if (id && MERGED.test(event.kind)) {
      const known = this.calls.get(id)
      if (known) {
        this.finish(known, event, payload)
        return true
      }
    }
    const row = this.make(event, payload, id)
    this.list.push(row)
    if (id && MERGED.test(event.kind)) this.calls.set(id, row)
    if (this.list.length > this.most) this.forget()
    return true
  }

  private make(event: Event, payload: Payload, id: string | null): Row {
    const merged = id !== null && MERGED.test(event.kind)
    return {
      key: merged ? `c${id}` : `e${event.seq}`,
      seq: event.seq,
      sel: merged && !event.kind.startsWith('execution.') ? `call:${id}` : `event:${event.seq}`,
      time: Date.parse(event.time),
      session: event.session_id ?? null,
      app: event.agent_name ?? null,
      sandbox: event.sandbox_id ?? null,
      sub: typeof payload.agent_id === 'string' ? ((payload.agent_type as string | undefined) ?? payload.agent_id) : null,
      icon: eventIcon(event),
      kind: event.kind,
      tool: eventTool(event),
      text: brief(eventText(event), 300),
      decision: event.decision ?? null,
      redacted: false,
      result: size(payload),
      status: event.status ?? (event.kind === 'tool.failed' ? 'failure' : null),
      took: event.duration_ms ?? null,
      running: BEGINS.test(event.kind) && event.decision !== 'deny',
      event,
    }
  }

  private finish(row: Row, event: Event, payload: Payload): void {
    row.decision = event.decision ?? row.decision
    if (BEGINS.test(event.kind)) {
      row.time = Math.min(row.time, Date.parse(event.time))
      row.text = brief(eventText(event), 300)
      return
    }
    if (event.kind === 'permission.asked') {
      row.decision ??= 'ask'
      return
    }
    row.running = false
    row.kind = event.kind
    row.status = event.status ?? (event.kind === 'tool.failed' ? 'failure' : event.kind === 'permission.denied' ? 'denied' : 'success')
    row.took = event.duration_ms ?? Math.max(0, Date.parse(event.time) - row.time)
    row.result = size(payload) || row.result
    row.event = event
  }

  private forget(): void {
    const gone = this.list.splice(0, Math.ceil(this.most / 10))
    for (const row of gone) if (row.key.startsWith('c')) this.calls.delete(row.key.slice(1))
  }
}

export const SHOWN = ['all', 'calls', 'denied', 'failed', 'writes', 'network'] as const
export type Shown = (typeof SHOWN)[number]

const WRITES = /^(Write|Edit|MultiEdit|NotebookEdit|apply_patch|write_file|replace)$/
const NETWORK = /^(WebFetch|WebSearch)$/

export function fits(row: Row, shown: Shown): boolean {
  switch (shown) {
    case 'calls':
      return row.key.startsWith('c') || row.kind.startsWith('execution.')
    case 'denied':
      return row.decision === 'deny' || row.status === 'denied'
    case 'failed':
      return row.status === 'failure' || row.status === 'timeout' || row.kind === 'turn.failed' || row.kind === 'model.failed'
    case 'writes':
      return WRITES.test(row.tool) || row.kind === 'file.write'
    case 'network':
      return NETWORK.test(row.tool) || row.kind.startsWith('egress') || /\b(curl|wget|git (push|pull|fetch|clone)|npm (i|install|publish)|pip install)\b/.test(row.text)
    default:
      return true
  }
}
