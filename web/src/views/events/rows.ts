/** Events as rows: what is asked before a call and what is told after it become one row, whichever comes first. */
import type { Component } from 'vue'
import type { Event } from '@/api/types'
import { eventIcon, eventText, eventTool } from '@/lib/lines'
import { bytes, count } from '@/lib/format'
import { brief } from '@/lib/safe'

export interface Row {
  key: string
  seq: number
  /** What is selected when the row is. */
  sel: string
  time: number
  session: string | null
  /** Whom belljar did it for, where no session did. */
  agent: string | null
  app: string | null
  sandbox: string | null
  sub: string | null
  icon: Component
  kind: string
  tool: string
  text: string
  decision: string | null
  /** How many secrets were taken out of it. */
  redacted: number
  result: string
  status: string | null
  took: number | null
  running: boolean
}

const MERGED = /^(tool\.(requested|finished|failed)|permission\.(asked|denied)|execution\.(started|ended))$/
const BEGINS = /^(tool\.requested|execution\.started)$/
/** Told of elsewhere: by the call itself, by the approval, by a chart. */
const SILENT = /^(usage\.|budget\.spent|otel\.|transcript\.|webhook\.|ledger\.|session\.(archived|processed)|tool\.reported|approval\.(delivered|requested)|sandbox\.state|agent\.traced)/

type Payload = Record<string, unknown>

function size(payload: Payload): string {
  const answer = payload.tool_response
  if (answer === undefined || answer === null) return ''
  const length = typeof answer === 'string' ? answer.length : JSON.stringify(answer).length
  return bytes(length)
}

/** What an edit comes to in lines: those that differ between what it takes out and what it puts in. */
function changed(payload: Payload): string {
  const input = payload.tool_input as Payload | null | undefined
  const lines = (value: unknown): string[] => (typeof value === 'string' && value ? value.replace(/\n$/, '').split('\n') : [])
  const [old, fresh] = typeof input?.new_string === 'string' ? [lines(input.old_string), lines(input.new_string)] : [[], lines(input?.content)]
  if (!old.length && !fresh.length) return ''
  let [head, tail] = [0, 0]
  const short = Math.min(old.length, fresh.length)
  while (head < short && old[head] === fresh[head]) head++
  while (tail < short - head && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail++
  return [fresh.length > head + tail ? `+${fresh.length - head - tail}` : '', old.length > head + tail ? `−${old.length - head - tail}` : ''].filter(Boolean).join(' ')
}

const MARKER = /\[redacted:/g
/** How many secrets were taken out of what was said; of a long text its beginning is looked at. */
const hidden = (event: Event, payload: Payload): number =>
  [event.error, payload.prompt, payload.message, ...Object.values((payload.tool_input as Payload | null | undefined) ?? {}), ...(typeof payload.tool_response === 'string' ? [payload.tool_response] : Object.values((payload.tool_response as Payload | null | undefined) ?? {}))].reduce<number>((sum, value) => sum + (typeof value === 'string' && value.includes('[redacted:') ? (value.slice(0, 20_000).match(MARKER)?.length ?? 0) : 0), 0)

/** What a request came to: of what is not told as money, the words it wrote. */
function spent(payload: Payload): string {
  const usage = payload.usage as Record<string, number> | undefined
  return usage?.output ? `${count(usage.output)} out` : ''
}

export class Rows {
  readonly list: Row[] = []
  /** The first that is left after others have made room; what was before it is on the server. */
  oldest: number | null = null
  /** What each session said last. */
  private readonly said = new Map<string, Row>()

  /** `calls` are those that have a row elsewhere, by their id: what is told of them goes there. */
  constructor(
    private readonly most = 30_000,
    private readonly calls = new Map<string, Row>(),
  ) {}

  /** Adds an event; the answer is whether anything is to be seen of it. */
  add(event: Event): boolean {
    if (SILENT.test(event.kind)) return false
    const payload = (event.payload ?? {}) as Payload
    // A budget that refuses a call says so beside the call itself.
    if (/^budget\./.test(event.kind) && event.decision === 'deny') return false
    const id = event.kind.startsWith('execution.') ? (event.execution_id ?? null) : typeof payload.tool_use_id === 'string' ? payload.tool_use_id : null
    if (id && MERGED.test(event.kind)) {
      const known = this.calls.get(id)
      if (known) {
        this.finish(known, event, payload)
        return true
      }
    }
    const row = this.make(event, payload, id)
    const said = row.session === null ? undefined : this.said.get(row.session)
    // The last an agent says is its answer, and told twice.
    if (event.kind === 'turn.ended' && said && said.text === row.text) {
      Object.assign(said, { kind: row.kind, tool: row.tool, icon: row.icon })
      return true
    }
    if (event.kind === 'hook.message' && row.session !== null) this.said.set(row.session, row)
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
      agent: event.agent_id && !/^(uid:|admin$)/.test(event.agent_id) ? event.agent_id : null,
      app: event.agent_name ?? null,
      sandbox: event.sandbox_id ?? null,
      sub: typeof payload.agent_id === 'string' ? ((payload.agent_type as string | undefined) ?? payload.agent_id) : null,
      icon: eventIcon(event),
      kind: event.kind,
      tool: eventTool(event),
      text: brief(eventText(event), 300),
      decision: event.decision ?? null,
      redacted: hidden(event, payload),
      result: changed(payload) || size(payload) || spent(payload),
      status: event.status ?? (event.kind === 'tool.failed' ? 'failure' : null),
      took: event.duration_ms ?? null,
      running: BEGINS.test(event.kind) && event.decision !== 'deny',
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
    row.result = changed(payload) || size(payload) || row.result
    row.redacted = Math.max(row.redacted, hidden(event, payload))
  }

  /** What was told before all that is shown: the rows it makes, oldest first. What a call began with goes to the row it has. */
  static before(events: readonly Event[], shown: readonly Row[]): readonly Row[] {
    const part = new Rows(Infinity, new Map(shown.filter((row) => row.key.startsWith('c')).map((row) => [row.key.slice(1), row])))
    events.forEach((event) => part.add(event))
    return part.list
  }

  private forget(): void {
    const gone = this.list.splice(0, Math.ceil(this.most / 10))
    for (const row of gone) if (row.key.startsWith('c')) this.calls.delete(row.key.slice(1))
    this.oldest = this.list[0]?.seq ?? null
  }
}

/** Rows newest first, and none of them copied: at thousands a second there is no time for it. */
export class Backwards {
  readonly length: number

  /** `list` grows at its end; `older` are in order already. */
  constructor(
    private readonly list: readonly Row[],
    private readonly older: readonly Row[],
  ) {
    this.length = list.length + older.length
  }

  slice(from = 0, until = this.length): Row[] {
    const { length } = this.list
    const some = this.list.slice(Math.max(0, length - until), Math.max(0, length - from)).toReversed()
    return until > length ? some.concat(this.older.slice(Math.max(0, from - length), until - length)) : some
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
