/** What an agent says of a call beside what belljar saw: row by row, and whether they agree. */
import { bytes, count, plural } from '@/lib/format'
import { span } from '@/lib/time'
import type { Seen } from '@/state/seen'
import type { ToldCall } from '@/state/told'

export interface Row {
  what: string
  says: string
  saw: string
  /** Why nothing was seen, or what else there is to know. */
  note?: string
  /** They contradict each other. */
  differs?: boolean
}
export interface Comparison {
  /** `silent`: there is nothing both speak of. */
  outcome: 'matches' | 'differs' | 'silent'
  rows: Row[]
}

const WRITES = /^(Write|Edit|MultiEdit|NotebookEdit|apply_patch|replace|write_file|write|edit)$/
const READS = /^(Read|Grep|Glob|LS|read_file|search|view)$/
const NOT_SAID = 'not said'

/** A path as the sandbox's changes name it; nothing if it is outside the workspace. */
function inWorkspace(path: string, workspace: string | null | undefined): string | null {
  if (!path.startsWith('/')) return path.replace(/^\.\//, '')
  return workspace && path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : null
}

function files({ call }: ToldCall, seen: Seen): Row & { agrees?: boolean } {
  const what = 'Files changed'
  const says = WRITES.test(call.tool ?? '') ? '1' : READS.test(call.tool ?? '') ? 'none' : NOT_SAID
  const saw = seen.files === null ? 'unknown' : seen.files.length ? count(seen.files.length) : 'none'
  if (seen.files === null) return { what, says, saw, note: seen.sandbox.state === 'destroyed' ? 'the sandbox is gone with its files' : 'the sandbox does not tell their times' }
  if (says !== '1' || call.outcome !== 'success' || !call.target) return { what, says, saw }
  const path = inWorkspace(call.target, seen.sandbox.workspace)
  if (path === null) return { what, says, saw, note: 'outside the workspace, where changes are not compared' }
  if (seen.files.some((file) => file.path === path)) return { what, says, saw, agrees: true }
  if (seen.later.some((file) => file.path === path)) return { what, says, saw, note: 'it was changed again since, so its time is lost' }
  return { what, says, saw, differs: true, note: 'the file is not among what this sandbox changed' }
}

function end({ call, exit }: ToldCall, { execution }: Seen): (Row & { agrees?: boolean }) | null {
  if (call.target_type !== 'command' && !execution) return null
  const what = 'Exit code'
  const says = exit === null ? NOT_SAID : String(exit)
  if (!execution) return { what, says, saw: 'unknown', note: 'its own child: only the agent tells' }
  const ended = execution.signal ? `signal ${execution.signal}` : execution.exit_code === null || execution.exit_code === undefined ? 'goes on' : String(execution.exit_code)
  const both = exit !== null && execution.exit_code != null
  return { what, says, saw: ended, ...(both ? (exit === execution.exit_code ? { agrees: true } : { differs: true }) : {}) }
}

function network(seen: Seen): Row {
  const what = 'Network'
  if (seen.sandbox.network === 'none') return { what, says: NOT_SAID, saw: 'none', note: 'the sandbox has none' }
  const { received, sent } = seen.use ?? {}
  if (received == null || sent == null) return { what, says: NOT_SAID, saw: 'not counted' }
  return { what, says: NOT_SAID, saw: `${bytes(received)} in, ${bytes(sent)} out` }
}

function used({ use }: Seen): Row[] {
  const short = use ? undefined : 'over between two measurements'
  const cpu = use?.cpuMillis == null ? null : span(use.cpuMillis)
  return [
    { what: 'Processes', says: NOT_SAID, saw: use?.processes == null ? 'not measured' : `${count(use.processes)} at most`, ...(short ? { note: short } : {}) },
    ...(use ? [{ what: 'CPU, memory', says: NOT_SAID, saw: [cpu, use.memory == null ? null : bytes(use.memory)].filter(Boolean).join(', ') || 'not measured' }] : []),
  ]
}

function output({ call }: ToldCall, { execution }: Seen): Row | null {
  if (!execution) return null
  return { what: 'Output', says: bytes(call.output_bytes), saw: bytes(execution.stdout_bytes + execution.stderr_bytes) }
}

export function compared(told: ToldCall, seen: Seen): Comparison {
  const judged = [end(told, seen), files(told, seen)].filter((row) => row !== null)
  const rows = [...judged, output(told, seen), ...used(seen), network(seen)].filter((row) => row !== null)
  const outcome = judged.some((row) => row.differs) ? 'differs' : judged.some((row) => row.agrees) ? 'matches' : 'silent'
  return { outcome, rows }
}

/** The changed files in a line. */
export const named = (seen: Seen, most = 6): string => {
  const paths = (seen.files ?? []).map((file) => file.path)
  return paths.length > most ? `${paths.slice(0, most).join(', ')} and ${plural(paths.length - most, 'other')}` : paths.join(', ')
}
