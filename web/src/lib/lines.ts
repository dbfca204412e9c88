/** One human line per event or call: which tool, on what, in the fewest words that tell. */
import {
  Ban, Bell, Bot, Box, Camera, CircleStop, Coins, FilePlus, FileText, Flag, Globe, Hand, ListTodo, GitFork, MessageCircle, MessageSquare, Network, OctagonX, Pencil,
  Plug, Search, Server, Shield, Sparkles, Split, Terminal, Wrench,
} from '@lucide/vue'
import type { Component } from 'vue'
import type { Call, Event } from '@/api/types'
import { count } from './format'
import { brief } from './safe'

type Payload = Record<string, unknown>

const TOOLS: Record<string, Component> = {
  Bash: Terminal, Shell: Terminal, BashOutput: Terminal, KillShell: Terminal, shell: Terminal, run_shell_command: Terminal, PowerShell: Terminal,
  Edit: Pencil, MultiEdit: Pencil, NotebookEdit: Pencil, Write: FilePlus, apply_patch: Pencil, replace: Pencil, write_file: FilePlus,
  Read: FileText, read_file: FileText, Glob: Search, Grep: Search, LS: Search, WebFetch: Globe, WebSearch: Globe,
  Task: Split, Agent: Split, TodoWrite: ListTodo, TaskUpdate: ListTodo, TaskCreate: ListTodo,
}

const FAMILIES: Record<string, Component> = {
  prompt: MessageSquare, hook: MessageCircle, run: GitFork, attempt: GitFork, model: Sparkles, session: Flag, turn: Flag, agent: Bot, permission: Hand, approval: Hand, guardian: Shield,
  sandbox: Box, execution: Terminal, file: FileText, snapshot: Camera, killswitch: OctagonX, egress: Network, budget: Coins,
  alert: Bell, limit: CircleStop, server: Server, api: Ban,
}

export const toolIcon = (tool: string | null | undefined): Component => (tool?.startsWith('mcp__') ? Plug : (TOOLS[tool ?? ''] ?? Wrench))
export const eventIcon = (event: Pick<Event, 'kind' | 'tool'>): Component =>
  event.tool && !event.kind.startsWith('approval.') ? toolIcon(event.tool) : (FAMILIES[event.kind.split('.')[0] ?? ''] ?? Wrench)

/** A tool's name: what it is called by its own server. */
export const toolName = (tool: string): string => brief(tool.startsWith('mcp__') ? (tool.split('__').at(-1) ?? tool) : tool, 60)

const WORDS: Record<string, string> = {
  'prompt.submitted': 'Prompt', 'hook.message': 'Says', 'session.started': 'Session', 'session.ended': 'End', 'model.called': 'Model', 'model.failed': 'Model',
  'turn.ended': 'Answer', 'turn.failed': 'Failed', 'agent.started': 'Subagent', 'agent.stopped': 'Subagent', 'agent.notified': 'Notice',
  'context.compacted': 'Compacted', 'permission.asked': 'Asks', 'approval.requested': 'Asks you', 'approval.answered': 'Answered',
  'approval.delivered': 'Delivered', 'approval.expired': 'Expired', 'sandbox.created': 'Sandbox', 'sandbox.ended': 'Sandbox', 'sandbox.state': 'Sandbox',
  'execution.started': 'Runs', 'execution.ended': 'Ran', 'file.write': 'File', 'file.read': 'File', 'snapshot.created': 'Snapshot',
  'guardian.denied': 'Guardian', 'guardian.asked': 'Guardian', 'guardian.allowed': 'Guardian', killswitch: 'Killed',
}

/** The word in the column of tools. */
export const eventTool = (event: Pick<Event, 'kind' | 'tool'>): string =>
  event.tool && !event.kind.startsWith('approval.') ? toolName(event.tool) : (WORDS[event.kind] ?? (event.kind.startsWith('hook.') ? 'Hook' : brief(event.kind, 60)))

/** A model's name as people say it: `opus 4.5`. */
export const modelName = (model: string): string => brief(model, 60).replace(/^claude-/, '').replace(/[-@]\d{8}$/, '').replace(/-(\d+)-(\d+)$/, ' $1.$2').replace(/-(\d+)$/, ' $1')

const said = (payload: unknown, name: string): string | null => {
  const value = (payload as Payload | undefined)?.[name]
  return typeof value === 'string' && value ? value : null
}
const below = (payload: unknown, name: string): unknown => (payload as Payload | undefined)?.[name]

/** A path as its agent sees it from where it works. */
export const seenFrom = (path: string, cwd: string | null | undefined): string =>
  cwd && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path

function ofInput(tool: string | null | undefined, input: unknown, cwd: string | null): string | null {
  switch (tool) {
    case 'Task':
    case 'Agent':
      return said(input, 'description')
    case 'Grep':
    case 'Glob': {
      const pattern = said(input, 'pattern')
      const place = said(input, 'path')
      return pattern && place ? `${pattern} in ${seenFrom(place, cwd)}` : pattern
    }
    case 'TodoWrite':
      return 'task list'
    default:
      return said(input, 'command') ?? said(input, 'url')?.replace(/^https:\/\//, '') ?? said(input, 'query') ?? null
  }
}

/** What an event is about. Raw: whoever shows it makes it harmless. */
export function eventText(event: Event): string {
  const payload = event.payload
  const cwd = said(payload, 'cwd')
  switch (event.kind) {
    case 'prompt.submitted':
      return said(payload, 'prompt') ?? ''
    case 'turn.ended':
    case 'turn.failed':
    case 'agent.notified':
    case 'agent.stopped':
      return said(payload, 'message') ?? event.error ?? ''
    case 'hook.message':
      return said(payload, 'message') ?? said(payload, 'text') ?? said(below(payload, 'rest'), 'delta') ?? ''
    case 'agent.started':
      return said(payload, 'agent_type') ?? ''
    case 'context.compacted':
      return said(below(payload, 'rest'), 'trigger') === 'manual' ? 'the context was shortened, as asked' : 'the context was full, and is shortened'
    case 'sandbox.created':
      return [event.agent_id, event.target && `made from ${event.target}`].filter(Boolean).join(' · ')
    case 'session.ended':
      return said(payload, 'reason') ?? 'over'
    case 'sandbox.ended':
      return [said(payload, 'name') ?? event.agent_id, said(payload, 'cause')].filter(Boolean).join(' · ') || 'its files and processes are gone'
    case 'session.started':
      return [modelName(said(payload, 'model') ?? ''), cwd].filter(Boolean).join(' · ')
    case 'model.called':
    case 'model.failed':
      return [modelName(said(payload, 'model') ?? 'unknown model'), event.tokens ? `${count(event.tokens)} tokens` : null, event.error].filter(Boolean).join(' · ')
    default:
      break
  }
  const about = ofInput(event.tool, below(payload, 'tool_input'), cwd) ?? (event.target ? seenFrom(event.target, cwd) : null)
  if (!about && event.tool && below(payload, 'tool_input')) return JSON.stringify(below(payload, 'tool_input')).slice(0, 2000)
  const state = event.kind === 'sandbox.state' ? said(payload, 'state') ?? said(payload, 'to') : null
  return [about ?? said(payload, 'name') ?? said(payload, 'command') ?? said(payload, 'message'), state, event.tool ? null : (event.error ?? (event.decision === 'deny' || event.decision === 'ask' ? event.reason : null))].filter(Boolean).join(' · ') || event.kind.replace(/^hook\./, '').replaceAll(/[._]/g, ' ')
}

/** What a call was given, as far as the record has it. */
export function callInput(call: Pick<Call, 'input'>): Record<string, unknown> | null {
  if (!call.input) return null
  try {
    const value: unknown = JSON.parse(call.input)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

export function callText(call: Pick<Call, 'tool' | 'target' | 'input'>, cwd: string | null = null): string {
  return ofInput(call.tool, callInput(call), cwd) ?? (call.target ? seenFrom(call.target, cwd) : null) ?? call.input ?? ''
}
