/**
 * The one WebSocket to `/api/v1/stream`: subscribes with a filter, comes back with the last place, misses nothing.
 *
 * Owns: the connection and its place in the ledger. Refuses: meaning; what comes in is handed on in batches, at most
 * twenty a second, however fast it comes.
 */
import type { Event, EventSelection, ServerFrame } from '@/api/types'

/** How often what came in is handed on. */
const BEAT = 50
/** A batch is cut here, so that no frame of the screen waits for long. */
const MOST = 4000
/** After so long without a word the connection is taken for dead. */
const SILENCE = 40_000

export type Link = 'connecting' | 'open' | 'lost'

export interface Heard {
  /** With how many characters each came as. */
  batch: (events: readonly Event[], weights: readonly number[]) => void
  /** The connection changed; `missed` is how many came in until it had caught up. */
  link: (link: Link) => void
  delay: (ms: number) => void
  refused: (detail: string) => void
}

export class Stream {
  private socket: WebSocket | null = null
  private waiting: Event[] = []
  private weights: number[] = []
  private timer: ReturnType<typeof setTimeout> | undefined
  private retry: ReturnType<typeof setTimeout> | undefined
  private tries = 0
  private heardAt = 0
  private pinged = 0
  private closed = false
  private readonly watchdog: ReturnType<typeof setInterval>

  constructor(
    private readonly heard: Heard,
    private readonly filter: Partial<EventSelection> = {},
    public since: number | null = null,
  ) {
    this.watchdog = setInterval(() => this.watch(), 5000)
    for (const wake of ['online', 'focus', 'pageshow']) addEventListener(wake, this.wake)
    document.addEventListener('visibilitychange', this.wake)
    this.open()
  }

  close(): void {
    this.closed = true
    clearInterval(this.watchdog)
    clearTimeout(this.retry)
    clearTimeout(this.timer)
    for (const wake of ['online', 'focus', 'pageshow']) removeEventListener(wake, this.wake)
    document.removeEventListener('visibilitychange', this.wake)
    this.socket?.close()
  }

  private readonly wake = (): void => {
    if (document.hidden || this.closed) return
    if (this.socket === null) {
      clearTimeout(this.retry)
      this.open()
    } else this.watch()
  }

  private open(): void {
    this.heard.link('connecting')
    const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/api/v1/stream`)
    this.socket = socket
    socket.onopen = () => {
      this.tries = 0
      this.heardAt = Date.now()
      this.subscribe()
    }
    socket.onmessage = ({ data }) => this.hear(JSON.parse(data as string) as ServerFrame, (data as string).length)
    socket.onclose = () => this.lost(socket)
  }

  private subscribe(): void {
    this.say({ type: 'subscribe', filter: this.filter, batch_ms: BEAT, ...(this.since === null ? {} : { since: this.since }) })
  }

  private say(frame: object): void {
    this.socket?.send(JSON.stringify(frame))
  }

  private hear(frame: ServerFrame, weight: number): void {
    this.heardAt = Date.now()
    switch (frame.type) {
      case 'event':
        this.take([frame as Event], weight)
        break
      case 'events':
        this.take(frame.items, weight / Math.max(1, frame.items.length))
        break
      case 'subscribed':
        this.since = Math.max(this.since ?? 0, frame.since)
        this.heard.link('open')
        this.ping()
        break
      case 'heartbeat':
        if (this.pinged) this.heard.delay(performance.now() - this.pinged)
        this.pinged = 0
        // What the filter left out has been passed over as well.
        this.since = Math.max(this.since ?? 0, frame.seq)
        break
      case 'error':
        this.heard.refused(frame.detail)
        break
      default:
        break
    }
  }

  private take(events: readonly Event[], weight: number): void {
    for (const event of events) {
      this.since = event.seq
      this.waiting.push(event)
      this.weights.push(weight)
    }
    if (events.length) this.timer ??= setTimeout(() => this.hand(), BEAT)
  }

  private hand(): void {
    this.timer = undefined
    const batch = this.waiting.splice(0, MOST)
    const weights = this.weights.splice(0, MOST)
    if (this.waiting.length) this.timer = setTimeout(() => this.hand(), BEAT)
    this.heard.batch(batch, weights)
  }

  private ping(): void {
    this.pinged = performance.now()
    this.say({ type: 'ping' })
  }

  private watch(): void {
    if (this.socket?.readyState !== WebSocket.OPEN) return
    if (Date.now() - this.heardAt > SILENCE) this.socket.close()
    else this.ping()
  }

  private lost(socket: WebSocket): void {
    if (this.socket !== socket || this.closed) return
    this.socket = null
    this.heard.link('lost')
    // Soon at first, since most outages are restarts; then every ten seconds.
    const pause = Math.min(10_000, 250 * 2 ** Math.min(this.tries++, 6)) * (0.8 + Math.random() * 0.4)
    this.retry = setTimeout(() => this.open(), pause)
  }
}
