/** How a run was judged, as the server tells it; and the words for it. */
import type { Schemas } from '@/api/client'

export type Run = Schemas['Run']
export type Fork = Schemas['RunFork']

export interface Part {
  score: number | null
  weight: number
  points: number
  note: string
}
export interface Gate {
  gate: string
  name: string
  result: 'passed' | 'failed' | 'unknown' | 'waived'
  reason: string
}
export interface Standing {
  fork: number
  rank: number
  eligible: boolean
  score: number | null
  gates: Gate[]
  breakdown: Partial<Record<string, Part>>
  notes: string[]
  pairwise_wins: number
}
export interface Judgement {
  forks: Standing[]
  ranking: number[]
  reason: string
  winner_fork: number | null
  close_call: { forks: number[]; margin: number; decided_by: string } | null
}

/** What scores are made of, the heaviest first. */
export const MEASURES: readonly (readonly [string, string])[] = [
  ['tests', 'Tests'], ['quality', 'Quality'], ['lint', 'Lint'], ['scope', 'Size of change'], ['contributed', 'Tests it adds'], ['agreement', 'Agreement'], ['cost', 'Cost and time'],
]

export const isOver = (run: Pick<Run, 'state'>): boolean => !['preparing', 'running', 'judging'].includes(run.state)

/** The state in a word and its colour. */
export function standing(run: Run): { word: string; tone: string } {
  if (run.state === 'finished') return run.picked ? { word: 'Overruled', tone: 'ask' } : run.winner_fork == null ? { word: 'No winner', tone: 'line' } : { word: 'Decided', tone: 'glass' }
  const words = { preparing: ['Preparing', 'glass'], running: ['Running', 'glass'], judging: ['Judging', 'glass'], failed: ['Failed', 'deny'], cancelled: ['Stopped', 'line'], interrupted: ['Interrupted', 'ask'] } as const
  const [word, tone] = words[run.state as keyof typeof words] ?? [run.state, 'line']
  return { word, tone }
}

/** What was spent on all attempts, as far as they tell; nothing where nobody tells. */
export const spent = (run: Run): number | null => {
  const known = run.forks.flatMap((fork) => (fork.cost == null ? [] : [fork.cost]))
  return known.length ? known.reduce((sum, cost) => sum + cost, 0) : null
}

/** One hue for each attempt of a run. */
export const hueKey = (run: Run, fork: number): string => `${run.id}/${fork}`
export const forkName = (fork: Pick<Fork, 'name' | 'fork'>): string => fork.name ?? `Attempt ${fork.fork}`
