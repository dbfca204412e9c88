/** A unified diff as rows: which line, added or removed, and which words of a changed line differ. */
import { harmless } from './safe'

export interface Piece {
  text: string
  marked: boolean
}
export interface DiffLine {
  kind: 'add' | 'del' | 'same' | 'hunk'
  number: number | null
  pieces: Piece[]
}
export interface DiffFile {
  path: string
  note: string | null
  added: number
  removed: number
  lines: DiffLine[]
}

const plain = (text: string): Piece[] => [{ text: harmless(text), marked: false }]

/** Reads what `git diff` writes. */
export function parseDiff(patch: string): DiffFile[] {
  const files: DiffFile[] = []
  let file: DiffFile | null = null
  let [old, fresh] = [0, 0]
  const begin = (path: string): DiffFile => {
    const made: DiffFile = { path, note: null, added: 0, removed: 0, lines: [] }
    files.push(made)
    return made
  }
  for (const line of patch.split('\n')) {
    const header = /^diff --git a\/(.*) b\/(.*)$/.exec(line)
    if (header) {
      file = begin(header[2] ?? '')
      continue
    }
    if (line.startsWith('+++ ') || line.startsWith('--- ')) {
      const path = line.slice(4).replace(/^[ab]\//, '')
      if (path !== '/dev/null') file = file && (file.lines.length === 0 || file.path === path) ? Object.assign(file, { path }) : begin(path)
      continue
    }
    if (!file) continue
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/.exec(line)
    if (hunk) {
      ;[old, fresh] = [Number(hunk[1]), Number(hunk[2])]
      // What it says before the first line that was changed is said by the file's name already, unless it names a function.
      const place = hunk[3]?.trim() ?? ''
      if (place || file.lines.length) file.lines.push({ kind: 'hunk', number: null, pieces: plain(place || '⋯') })
    } else if (line.startsWith('new file')) file.note = 'new'
    else if (line.startsWith('deleted file')) file.note = 'deleted'
    else if (line.startsWith('rename to')) file.note = 'renamed'
    else if (line.startsWith('Binary') || line.startsWith('GIT binary')) file.note = 'binary'
    else if (old || fresh) {
      if (line.startsWith('+')) {
        file.added++
        file.lines.push({ kind: 'add', number: fresh++, pieces: plain(line.slice(1)) })
      } else if (line.startsWith('-')) {
        file.removed++
        file.lines.push({ kind: 'del', number: old++, pieces: plain(line.slice(1)) })
      } else if (line.startsWith(' ')) {
        file.lines.push({ kind: 'same', number: fresh++, pieces: plain(line.slice(1)) })
        old++
      }
    }
  }
  files.forEach((made) => markWords(made.lines))
  return files
}

/** A diff of two texts an edit replaces by each other, without context. */
export function replaced(path: string, before: string, after: string): string {
  const lines = (text: string, sign: string): string => (text === '' ? '' : text.replace(/\n$/, '').split('\n').map((line) => sign + line).join('\n'))
  return [`--- a/${path}`, `+++ b/${path}`, '@@ -1 +1 @@', lines(before, '-'), lines(after, '+')].filter(Boolean).join('\n')
}

/** Where as many lines were removed as added, marks what lies between their common beginning and end. */
function markWords(lines: DiffLine[]): void {
  for (let at = 0; at < lines.length; ) {
    let dels = at
    while (lines[dels]?.kind === 'del') dels++
    let adds = dels
    while (lines[adds]?.kind === 'add') adds++
    const [gone, come] = [dels - at, adds - dels]
    if (gone > 0 && gone === come) for (let pair = 0; pair < gone; pair++) mark(lines[at + pair] as DiffLine, lines[dels + pair] as DiffLine)
    at = Math.max(adds, at + 1)
  }
}

function mark(before: DiffLine, after: DiffLine): void {
  const [a, b] = [before.pieces[0]?.text ?? '', after.pieces[0]?.text ?? '']
  const short = Math.min(a.length, b.length)
  let head = 0
  while (head < short && a[head] === b[head]) head++
  let tail = 0
  while (tail < short - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  // Two lines that share next to nothing are two lines, not one that changed.
  if (head + tail < Math.max(a.length, b.length) * 0.3) return
  before.pieces = cut(a, head, tail)
  after.pieces = cut(b, head, tail)
}

const cut = (text: string, head: number, tail: number): Piece[] =>
  [
    { text: text.slice(0, head), marked: false },
    { text: text.slice(head, text.length - tail), marked: true },
    { text: text.slice(text.length - tail), marked: false },
  ].filter((piece) => piece.text)
