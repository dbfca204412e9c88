/** Lanes, ruler and minimap on canvases. Reads the design's tokens; knows nothing of where data comes from. */
import { hue } from '@/lib/agents'
import { brief } from '@/lib/safe'
import { token } from '@/lib/theme'
import { clock, span } from '@/lib/time'
import type { Bar, Lane } from './lanes'

export const LANE = 44
export const RULER = 28
export interface Window {
  from: number
  until: number
}
export interface Hit {
  lane: Lane
  target: string
  label: string
  from: number
  until: number
  state: string
}

/** Colours as they are now; asked for once a frame. */
export interface Ink {
  line: string
  text: string
  dim: string
  glass: string
  deny: string
  ask: string
  hatch: string
  bg: string
  barText: string
  grid: string
  agent: (key: string) => { bar: string; line: string }
}

export function ink(): Ink {
  const [l, c, bl, bc] = ['--ag-l', '--ag-c', '--ag-bar-l', '--ag-bar-c'].map(token)
  const agent = (key: string): { bar: string; line: string } => {
    const h = token(`--ah-${hue(key).slice(3)}`) || '220'
    return { bar: `oklch(${bl} ${bc} ${h})`, line: `oklch(${l} ${c} ${h} / .75)` }
  }
  return {
    line: token('--line'), text: token('--text'), dim: token('--text-3'), glass: token('--glass'), deny: token('--deny'), ask: token('--ask'),
    hatch: token('--hatch'), bg: token('--bg'), barText: token('--ag-bar-text'), grid: token('--grid'), agent,
  }
}

/** Makes a canvas sharp and empty. */
export function prepare(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const scale = devicePixelRatio || 1
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale)
    canvas.height = Math.round(height * scale)
    canvas.style.width = `${width}px`
    canvas.style.height = `${height}px`
  }
  const on = canvas.getContext('2d')
  on?.setTransform(scale, 0, 0, scale, 0, 0)
  on?.clearRect(0, 0, width, height)
  return on
}

const STEPS = [50, 100, 250, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 86_400_000]
/** Round moments, about so many pixels apart. */
export function ticks({ from, until }: Window, width: number, apart = 110): { at: number; step: number }[] {
  const wanted = ((until - from) / Math.max(1, width)) * apart
  const step = STEPS.find((one) => one >= wanted) ?? 86_400_000
  const first = Math.ceil(from / step) * step
  return Array.from({ length: Math.max(0, Math.floor((until - first) / step) + 1) }, (_, at) => ({ at: first + at * step, step }))
}

/** Where the playhead says its own time, no other is written. */
export function drawRuler(on: CanvasRenderingContext2D, width: number, window: Window, pen: Ink, playhead: number | null): void {
  on.font = '11px Inter, sans-serif'
  on.textBaseline = 'middle'
  const x = (at: number): number => ((at - window.from) / (window.until - window.from)) * width
  for (const { at, step } of ticks(window, width)) {
    on.fillStyle = pen.line
    on.fillRect(Math.round(x(at)), RULER - 8, 1, 8)
    if (playhead !== null && x(at) > x(playhead) - 90 && x(at) < x(playhead) + 34) continue
    on.fillStyle = pen.dim
    on.fillText(step < 1000 ? clock(at, { thousandths: true }).slice(3) : step < 60_000 ? clock(at) : clock(at).slice(0, 5), x(at) + 5, RULER / 2)
  }
}

/** Draws all lanes; the answer is what lies where. `playhead` dims what comes after it. */
export function drawLanes(on: CanvasRenderingContext2D, size: { width: number; height: number }, lanes: readonly Lane[], window: Window, pen: Ink, { now, playhead, chosen, brush }: { now: number; playhead: number | null; chosen: string; brush: Window | null }): Hit[] {
  const { width, height } = size
  const hits: Hit[] = []
  const x = (at: number): number => ((at - window.from) / (window.until - window.from)) * width
  on.fillStyle = pen.grid
  for (const { at } of ticks(window, width)) on.fillRect(Math.round(x(at)), 0, 1, height)
  on.textBaseline = 'middle'
  lanes.forEach((lane, row) => {
    const top = row * LANE
    const colour = pen.agent(lane.hue)
    on.fillStyle = pen.line
    on.fillRect(0, top + LANE - 1, width, 1)
    for (const bar of lane.bars) {
      const [left, right] = [x(bar.from), x(bar.until ?? now)]
      if (right < -2 || left > width + 2) continue
      const wide = Math.max(bar.kind === 'model' ? 1 : 3, right - left)
      if (bar.kind === 'model') {
        on.fillStyle = colour.line
        on.fillRect(left, top + 9, wide, 2.5)
      } else {
        const box = { left, top: top + 15, wide, high: 19 }
        if (bar.kind === 'wait') drawWait(on, box, bar, pen)
        else drawCall(on, box, bar, colour.bar, pen)
        hits.push({ lane, target: bar.target, label: bar.label, from: bar.from, until: bar.until ?? now, state: bar.kind === 'wait' ? 'waiting for a person' : bar.state === 'open' ? 'goes on' : bar.state })
        if (bar.target === chosen) {
          on.strokeStyle = pen.glass
          on.lineWidth = 2
          on.beginPath()
          on.roundRect(box.left - 2, box.top - 2, box.wide + 4, box.high + 4, 5)
          on.stroke()
        }
      }
    }
    for (const mark of lane.marks) {
      const at = x(mark.at)
      if (at < -8 || at > width + 8) continue
      if (mark.kind === 'denied') hits.push({ lane, target: mark.target, label: mark.label, from: mark.at - 1, until: mark.at + 1, state: 'denied' })
      else hits.push({ lane, target: mark.target, label: mark.label, from: mark.at, until: mark.at, state: mark.kind })
      drawMark(on, mark.kind, at, top, pen, mark.target === chosen)
    }
  })
  drawSpawns(on, lanes, x, pen)
  if (playhead !== null) {
    // What comes after it lies in the dark, also the rest of what has begun.
    const left = Math.max(0, x(playhead))
    on.globalAlpha = 0.68
    on.fillStyle = pen.bg
    on.fillRect(left, 0, Math.max(0, width - left), height)
    on.globalAlpha = 1
    on.fillStyle = pen.glass
    on.fillRect(Math.round(x(playhead)), 0, 1.5, height)
  }
  if (brush) drawBrush(on, x(brush.from), x(brush.until), height, span(brush.until - brush.from), pen)
  return hits
}

/** The stretch that is being selected, and how long it is. */
function drawBrush(on: CanvasRenderingContext2D, left: number, right: number, height: number, long: string, pen: Ink): void {
  on.fillStyle = pen.glass
  on.globalAlpha = 0.14
  on.fillRect(left, 0, right - left, height)
  on.globalAlpha = 1
  on.fillRect(Math.round(left), 0, 1, height)
  on.fillRect(Math.round(right) - 1, 0, 1, height)
  on.font = '600 11px Inter, sans-serif'
  const wide = on.measureText(long).width + 12
  const at = Math.max(2, Math.min((left + right) / 2 - wide / 2, left + Math.max(right - left, wide) - wide))
  on.beginPath()
  on.roundRect(at, 4, wide, 18, 5)
  on.fill()
  on.fillStyle = pen.bg
  on.fillText(long, at + 6, 13.5)
}

interface Box {
  left: number
  top: number
  wide: number
  high: number
}

function drawCall(on: CanvasRenderingContext2D, box: Box, bar: Bar, colour: string, pen: Ink): void {
  on.fillStyle = colour
  on.beginPath()
  on.roundRect(box.left, box.top, box.wide, box.high, Math.min(3, box.wide / 2))
  on.fill()
  if (bar.state === 'failed') {
    on.fillStyle = pen.deny
    on.beginPath()
    on.roundRect(box.left + box.wide - Math.min(3, box.wide), box.top, Math.min(3, box.wide), box.high, 1)
    on.fill()
  }
  write(on, bar.label, box, pen.barText, '11px "JetBrains Mono", monospace')
}

function drawWait(on: CanvasRenderingContext2D, box: Box, bar: Bar, pen: Ink): void {
  on.save()
  on.beginPath()
  on.roundRect(box.left, box.top, box.wide, box.high, 3)
  on.clip()
  on.strokeStyle = pen.hatch
  on.lineWidth = 3
  const from = Math.max(box.left, -20)
  const until = Math.min(box.left + box.wide, from + 4000)
  for (let at = from - box.high; at < until; at += 8) {
    on.beginPath()
    on.moveTo(at, box.top + box.high)
    on.lineTo(at + box.high, box.top)
    on.stroke()
  }
  on.restore()
  on.strokeStyle = pen.ask
  on.lineWidth = 1
  on.beginPath()
  on.roundRect(box.left + 0.5, box.top + 0.5, Math.max(1, box.wide - 1), box.high - 1, 3)
  on.stroke()
  on.font = '500 11px Inter, sans-serif'
  const left = Math.max(box.left, 0)
  const text = fit(on, bar.label, box.left + box.wide - left - 14)
  if (!text) return
  on.fillStyle = pen.bg
  on.fillRect(left + 4, box.top + 2, on.measureText(text).width + 8, box.high - 4)
  on.fillStyle = pen.ask
  on.fillText(text, left + 8, box.top + box.high / 2 + 0.5)
}

function write(on: CanvasRenderingContext2D, label: string, box: Box, colour: string, font: string): void {
  const left = Math.max(box.left, 0)
  const room = box.left + box.wide - left - 10
  if (room < 24) return
  on.font = font
  const text = fit(on, label, room)
  if (!text) return
  on.fillStyle = colour
  on.fillText(text, left + 5, box.top + box.high / 2 + 0.5)
}

/** As much of a label as fits, or nothing: half a word helps nobody. */
function fit(on: CanvasRenderingContext2D, label: string, room: number): string {
  const text = brief(label, 120)
  if (on.measureText(text).width <= room) return text
  const short = text.slice(0, Math.max(0, Math.floor((room / on.measureText(text).width) * text.length) - 1)).trimEnd()
  return short.length >= 4 ? `${short}…` : ''
}

function drawMark(on: CanvasRenderingContext2D, kind: string, at: number, top: number, pen: Ink, isChosen: boolean): void {
  on.lineWidth = 1.5
  on.beginPath()
  if (kind === 'prompt') {
    const y = top + 10
    on.moveTo(at, y - 5); on.lineTo(at + 5, y); on.lineTo(at, y + 5); on.lineTo(at - 5, y)
    on.closePath()
    on.fillStyle = isChosen ? pen.glass : pen.text
    on.fill()
  } else if (kind === 'compaction') {
    on.moveTo(at - 5, top + 5); on.lineTo(at + 5, top + 5); on.lineTo(at, top + 12)
    on.closePath()
    on.strokeStyle = pen.dim
    on.stroke()
  } else {
    const y = top + 24
    on.arc(at, y, 7, 0, Math.PI * 2)
    on.fillStyle = pen.bg
    on.fill()
    on.strokeStyle = pen.deny
    on.moveTo(at - 3, y - 3); on.lineTo(at + 3, y + 3)
    on.moveTo(at + 3, y - 3); on.lineTo(at - 3, y + 3)
    on.stroke()
    if (isChosen) {
      on.beginPath()
      on.strokeStyle = pen.glass
      on.arc(at, y, 10, 0, Math.PI * 2)
      on.stroke()
    }
  }
}

/** Solid: started; dotted: gave its answer. */
function drawSpawns(on: CanvasRenderingContext2D, lanes: readonly Lane[], x: (at: number) => number, pen: Ink): void {
  lanes.forEach((lane, row) => {
    for (const spawn of lane.spawns) {
      const parent = lanes.findIndex((one) => one.key === spawn.from)
      if (parent < 0) continue
      const [from, to] = [parent * LANE + 34, row * LANE + 24]
      const start = x(spawn.at)
      on.strokeStyle = pen.agent(lane.hue).line
      on.lineWidth = 1.25
      on.beginPath()
      on.moveTo(start + 3, from)
      on.lineTo(start + 3, to - 6)
      on.quadraticCurveTo(start + 3, to, start + 9, to)
      on.lineTo(Math.max(start + 9, Math.min(x(spawn.first), start + 400)), to)
      on.stroke()
      if (spawn.back === null) continue
      const end = x(spawn.back)
      on.setLineDash([2, 3])
      on.beginPath()
      on.moveTo(end - 8, to)
      on.quadraticCurveTo(end - 2, to, end - 2, to - 8)
      on.lineTo(end - 2, from + 2)
      on.stroke()
      on.setLineDash([])
    }
  })
}

export function drawMinimap(on: CanvasRenderingContext2D, width: number, height: number, lanes: readonly Lane[], all: Window, window: Window, pen: Ink, now: number): void {
  const x = (at: number): number => ((at - all.from) / (all.until - all.from)) * width
  const each = Math.max(1.5, (height - 6) / Math.max(1, lanes.length))
  lanes.forEach((lane, row) => {
    on.fillStyle = pen.agent(lane.hue).bar
    for (const bar of lane.bars) {
      if (bar.kind === 'model') continue
      if (bar.kind === 'wait') on.fillStyle = pen.ask
      on.fillRect(x(bar.from), 3 + row * each, Math.max(1, x(bar.until ?? now) - x(bar.from)), Math.max(1, each - 1))
      if (bar.kind === 'wait') on.fillStyle = pen.agent(lane.hue).bar
    }
  })
  const [left, right] = [Math.max(0, x(window.from)), Math.min(width, x(window.until))]
  on.fillStyle = pen.glass
  on.globalAlpha = 0.1
  on.fillRect(left, 1, Math.max(6, right - left), height - 2)
  on.globalAlpha = 1
  on.strokeStyle = pen.glass
  on.lineWidth = 1
  on.strokeRect(left + 0.5, 1.5, Math.max(6, right - left) - 1, height - 3)
}
